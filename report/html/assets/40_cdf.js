/* Distributions: the share of samples that took at most so long. The latency has a
   logarithmic axis. The share has that of the normal distribution, which stretches both
   ends: 50 % is in the middle of 1 % and 99 %; a button shows it linearly. */
(function () {
  "use strict";

  // The shares that the axis names, and from where on it shows them.
  const named = ["1", "10", "50", "90", "99", "99.9", "99.99", "99.999", "99.9999", "99.99999", "99.999999"];
  const least = 0.005;

  // stretched is the quantile of the normal distribution (Acklam's approximation, to 1e-9).
  function stretched(share) {
    const p = Math.max(share, least);
    if (p > 0.5) return p > 0.97575 ? -tail(1 - p) : -middle(0.5 - p);
    return p < 0.02425 ? tail(p) : middle(p - 0.5);
  }
  function tail(p) {
    const q = Math.sqrt(-2 * Math.log(p));
    return (((((-7.784894002430293e-3 * q - 0.3223964580411365) * q - 2.400758277161838) * q - 2.549732539343734) * q + 4.374664141464968) * q + 2.938163982698783) /
      ((((7.784695709041462e-3 * q + 0.3224671290700398) * q + 2.445134137142996) * q + 3.754408661907416) * q + 1);
  }
  function middle(q) {
    const r = q * q;
    return (((((-39.69683028665376 * r + 220.9460984245205) * r - 275.9285104469687) * r + 138.3577518672690) * r - 30.66479806614716) * r + 2.506628277459239) * q /
      (((((-54.47609879822406 * r + 161.5858368580409) * r - 155.6989798598866) * r + 66.80131188771972) * r - 13.28068155288572) * r + 1);
  }

  // shareAt is the share of a series at a latency, between its points.
  function shareAt(s, x) {
    const n = s.value.length;
    if (!n || x < s.value[0]) return 0;
    if (x >= s.value[n - 1]) return s.share[n - 1];
    let low = 0, high = n - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (s.value[middle] <= x) low = middle;
      else high = middle;
    }
    const width = s.value[high] - s.value[low];
    return s.share[low] + (width > 0 ? (s.share[high] - s.share[low]) * (x - s.value[low]) / width : 0);
  }

  // decades are round values on a logarithmic axis.
  function decades(low, high, most) {
    for (const factors of [[1, 2, 5], [1, 3], [1]]) {
      const list = [];
      for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
        for (const f of factors) {
          const x = Number((f * Math.pow(10, e)).toPrecision(3));
          if (x >= low && x <= high) list.push(x);
        }
      }
      if (list.length <= most || factors.length === 1) return list;
    }
  }

  blis.cdf = function (spec) {
    let bent = true;
    const positive = spec.series.flatMap((s) => s.value.filter((v) => v > 0));
    const low = Math.min(...positive) / 1.05, high = Math.max(...positive) * 1.05;
    const tables = () => uPlot.join(spec.series.map((s) => {
      const x = [], y = [];
      s.value.forEach((v, i) => {
        const share = s.share[i];
        if (!(v > 0) || (bent && share >= 1)) return;
        const at = bent ? stretched(share) : share;
        if (x.length && x[x.length - 1] === v) y[y.length - 1] = at; // a step: its top
        else { x.push(v); y.push(at); }
      });
      return [x, y];
    }));
    const top = Math.max(1, ...spec.series.flatMap((s) => s.share.filter((v) => v < 1).map(stretched)));
    const bottom = stretched(least);
    // label leaves a share out where the one below it is too near.
    const label = (u, all, i) => (i > 0 && i % 2 === 0 && i > 5 && (all[i] - all[i - 1]) / (top - bottom) < 0.085 ? "" : named[i] + "\u202f%");
    let chart;
    const options = {
      height: 250,
      series: [{}].concat(spec.series.map((s, i) => ({ stroke: () => blis.color("s" + i), width: i === 0 && spec.series.length > 1 ? 2.6 : 2, dash: blis.dashes[i], spanGaps: true, points: { show: false } }))),
      scales: { x: { time: false, distr: 3, log: 10, range: () => [low, high] }, y: { range: () => (bent ? [bottom, top + (top - bottom) * 0.02] : [0, 1.02]) } },
      axes: [
        blis.axis({ label: spec.unit === "ms" ? "Latency, ms (logarithmic)" : spec.unit, size: 34, splits: (u) => decades(low, high, u.width / 60), filter: (u, all) => all, values: (u, all) => all.map((v) => blis.tick(v)) }),
        blis.leftAxis({
            size: 74,
          splits: () => (bent ? named.map((p) => stretched(p / 100)).filter((y) => y <= top + 0.05) : [0, 0.25, 0.5, 0.75, 1]),
          values: (u, all) => all.map((y, i) => (bent ? label(u, all, i) : blis.tick(100 * y) + "\u202f%")),
        }),
      ],
      cursor: { drag: { x: false, y: false, setScale: false }, points: { show: false } },
      hooks: { setCursor: [(u) => chart && values(u)] },
    };
    chart = blis.place(spec, options, tables());
    blis.legend(chart, spec.series.map((s) => s.name), (i, on) => chart.plot.setSeries(i + 1, { show: on }));
    function values(u) {
      if (u.cursor.left < 0) return chart.say("", null);
      const x = u.posToVal(u.cursor.left, "x");
      chart.say("within " + blis.number(x) + "\u202f" + spec.unit + ":", spec.series.map((s) => (100 * shareAt(s, x)).toFixed(shareAt(s, x) > 0.99 ? 3 : 1) + "\u202f%"));
    }
    chart.move = function (by) {
      const left = chart.plot.cursor.left, width = chart.plot.over.clientWidth;
      const to = Math.max(0, Math.min(width, (left === undefined || left < 0 ? 0 : left) + by * 4));
      chart.plot.setCursor({ left: to, top: 10 });
    };
    const controls = blis.element("div", "controls");
    const button = blis.element("button", "", "Linear shares");
    button.type = "button";
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      bent = !bent;
      button.setAttribute("aria-pressed", String(!bent));
      chart.plot.setData(tables());
    });
    controls.append(button);
    chart.box.before(controls);
    return chart;
  };
})();
