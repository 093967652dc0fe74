/* Lines over the time of a run. A value stands for its whole bin, so lines are steps. A
   band reaches from the least to the most. */
(function () {
  "use strict";

  const steps = uPlot.paths.stepped({ align: 1 });

  // marks draws moments such as scaling events as dashed lines with a text.
  function marks(spec) {
    return (u) => {
      const c = u.ctx, ratio = devicePixelRatio;
      c.save();
      c.font = 11 * ratio + "px system-ui, sans-serif";
      c.textAlign = "left";
      c.textBaseline = "alphabetic";
      let free = -Infinity; // where the last text ended
      for (const m of spec.marks || []) {
        const x = u.valToPos(m.at, "x", true);
        if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) continue;
        c.strokeStyle = c.fillStyle = blis.color("dim");
        c.setLineDash([3 * ratio, 3 * ratio]);
        c.lineWidth = ratio;
        c.beginPath();
        c.moveTo(x, u.bbox.top);
        c.lineTo(x, u.bbox.top + u.bbox.height);
        c.stroke();
        const width = c.measureText(m.text).width, room = 4 * ratio;
        const left = x + room + width > u.bbox.left + u.bbox.width ? x - room - width : x + room;
        if (left > free) {
          c.fillText(m.text, left, u.bbox.top + 11 * ratio);
          free = left + width + 2 * room;
        }
      }
      c.restore();
    };
  }

  blis.time = function (spec) {
    const x = [], bins = spec.bins;
    const end = spec.end;
    for (let k = 0; k <= bins; k++) x.push(Math.min(k * spec.step, end));
    // The last value is drawn to the end of its bin, which is that of the run.
    const whole = (list) => x.map((_, k) => { const v = list[Math.min(k, bins - 1)]; return v === undefined ? null : v; });
    const data = [x], series = [{}], bands = [];
    const lines = spec.series.map((s, i) => {
      const hue = "s" + i;
      const of = { line: data.push(whole(s.mean)) - 1 };
      series.push({ stroke: () => blis.color(hue), width: 2, dash: blis.dashes[i], paths: steps, points: { show: false } });
      if (s.low && s.high) {
        of.high = data.push(whole(s.high)) - 1;
        of.low = data.push(whole(s.low)) - 1;
        for (let edge = 0; edge < 2; edge++) series.push({ stroke: () => blis.faded(hue, 0.35), width: 0.7, paths: steps, points: { show: false } });
        bands.push({ series: [of.high, of.low], fill: () => blis.faded(hue, 0.16) });
      }
      return of;
    });
    const write = spec.share ? blis.percent : blis.number;
    let chart;
    const options = {
      series: series, bands: bands,
      scales: { x: { time: false, range: (u, low, high) => [low, high] }, y: { range: (u, low, high) => [0, high > 0 ? high * 1.08 : 1] } },
      axes: [blis.timeAxis(end), blis.leftAxis({ label: spec.unit, values: (u, all) => all.map((v) => (spec.share ? blis.tick(100 * v) : blis.short(v))) })],
      cursor: { sync: { key: spec.group, setSeries: false } },
      hooks: { setScale: [(u, key) => chart && blis.zoomed(chart, key)], draw: [marks(spec)], setCursor: [(u) => chart && values(u)] },
    };
    chart = blis.place(spec, options, data);
    chart.end = end;
    blis.legend(chart, spec.series.map((s) => s.name), (i, on) => {
      for (const k of Object.values(lines[i])) chart.plot.setSeries(k, { show: on });
    });
    function values(u) {
      const k = u.cursor.idx;
      if (k === null || k === undefined || u.cursor.left < 0) return chart.say(hint, null);
      const bin = Math.min(k, bins - 1);
      chart.say("from " + blis.seconds(bin * spec.step, spec.step) + ":", lines.map((of) => {
        const mean = write(data[of.line][bin]);
        return of.low ? mean + " (" + write(data[of.low][bin]) + " to " + write(data[of.high][bin]) + ")" : mean;
      }));
    }
    const hint = "";
    chart.say(hint, null);
    // move puts the cursors of the group so many bins farther.
    chart.move = function (by) {
      const { min, max } = chart.plot.scales.x;
      const first = Math.ceil(min / spec.step - 0.5), last = Math.min(bins - 1, Math.floor(max / spec.step - 0.5));
      const now = chart.plot.cursor.idx;
      const to = Math.max(first, Math.min(last, (now === null || now === undefined || chart.plot.cursor.left < 0 ? first - 1 : now) + by));
      blis.pointAt(chart.group, to * spec.step);
    };
    chart.ready = true;
    return chart;
  };

  // pointAt puts the cursors of a group at a moment.
  blis.pointAt = function (group, at) {
    blis.together(group, (c) => {
      const top = c.spec.kind === "heat" ? c.plot.valToPos(c.row + 0.5, "y") : 10;
      c.plot.setCursor({ left: c.plot.valToPos(at, "x") + 0.01, top: top });
    });
  };
})();
