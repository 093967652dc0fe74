/* Distributions: the share of samples that took at most so long. The latency has a
   logarithmic axis. The share is stretched towards 1, so that 90 %, 99 % and 99.9 % are
   equally far apart; a button shows it linearly. */
(function () {
  "use strict";

  const stretched = (share) => -Math.log10(1 - share);
  const back = (y) => 1 - Math.pow(10, -y);

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
  function decades(low, high) {
    for (const factors of [[1, 2, 5], [1, 3], [1]]) {
      const list = [];
      for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
        for (const f of factors) {
          const x = Number((f * Math.pow(10, e)).toPrecision(3));
          if (x >= low && x <= high) list.push(x);
        }
      }
      if (list.length <= 9 || factors.length === 1) return list;
    }
  }

  blis.cdf = function (spec) {
    let tail = true;
    const positive = spec.series.flatMap((s) => s.value.filter((v) => v > 0));
    const low = Math.min(...positive) / 1.05, high = Math.max(...positive) * 1.05;
    const tables = () => uPlot.join(spec.series.map((s) => {
      const x = [], y = [];
      s.value.forEach((v, i) => {
        const share = s.share[i];
        if (!(v > 0) || (tail && share >= 1)) return;
        if (x.length && x[x.length - 1] === v) y[y.length - 1] = tail ? stretched(share) : share; // a step: its top
        else { x.push(v); y.push(tail ? stretched(share) : share); }
      });
      return [x, y];
    }));
    const top = Math.max(1, ...spec.series.flatMap((s) => s.share.filter((v) => v < 1).map(stretched)));
    const shares = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999, 0.9999999, 0.99999999];
    let chart;
    const options = {
      height: 250,
      series: [{}].concat(spec.series.map((s, i) => ({ stroke: () => blis.color("s" + i), width: i === 0 && spec.series.length > 1 ? 2.6 : 2, dash: blis.dashes[i], spanGaps: true, points: { show: false } }))),
      scales: { x: { time: false, distr: 3, log: 10, range: () => [low, high] }, y: { range: () => (tail ? [0, top * 1.03] : [0, 1.02]) } },
      axes: [
        blis.axis({ label: spec.unit === "ms" ? "Latency, ms (logarithmic)" : spec.unit, size: 34, splits: (u) => decades(low, high), filter: (u, all) => all, values: (u, all) => all.map((v) => blis.tick(v)) }),
        blis.leftAxis({
          splits: () => (tail ? shares.map(stretched).filter((y) => y <= top * 1.03) : [0, 0.25, 0.5, 0.75, 1]),
          values: (u, all) => all.map((y) => blis.tick(Number((100 * (tail ? back(y) : y)).toFixed(6))) + "\u202f%"),
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
      tail = !tail;
      button.setAttribute("aria-pressed", String(!tail));
      chart.plot.setData(tables());
    });
    controls.append(button);
    chart.box.before(controls);
    return chart;
  };
})();
