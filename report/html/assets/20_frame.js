/* The frame of a chart that uPlot draws: size, axes, the line with values below it, and
   keys. Charts of one group, those of one run, move their cursors and zoom together. */
(function () {
  "use strict";

  const axisWidth = 64;
  const font = "12.5px system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif";

  // axis is the part of the options that all axes share.
  blis.axis = function (more) {
    return Object.assign({
      stroke: () => blis.color("dim"),
      grid: { stroke: () => blis.color("grid"), width: 1 },
      ticks: { stroke: () => blis.color("grid"), width: 1, size: 5 },
      font: font, labelFont: font, labelSize: 20, gap: 5,
    }, more);
  };
  blis.leftAxis = (more) => blis.axis(Object.assign({ side: 3, size: axisWidth }, more));

  // timeAxis shows seconds, or minutes or hours where there are many.
  blis.timeAxis = function (end) {
    const [per, unit] = end >= 7200 ? [3600, "h"] : end >= 600 ? [60, "min"] : [1, "s"];
    const steps = [];
    for (let power = -6; power <= 7; power++) {
      for (const f of [1, 2, 5]) steps.push(per * f * Math.pow(10, power));
    }
    return blis.axis({ label: "Simulated time, " + unit, incrs: steps, size: 34, values: (u, all) => all.map((x) => blis.tick(x / per)) });
  };

  // seconds writes a moment so that neighbouring bins differ.
  blis.seconds = (x, step) => x.toFixed(Math.max(0, Math.min(6, Math.ceil(-Math.log10(step)) + 1))) + "\u202fs";

  // place makes the chart of a specification in its element.
  blis.place = function (spec, options, data) {
    const box = document.getElementById(spec.id);
    const chart = { spec: spec, box: box, group: spec.group || spec.id, row: 0 };
    options.width = Math.max(200, box.clientWidth);
    options.height = options.height || 220;
    options.legend = { show: false };
    options.padding = [10, 14, 0, 0];
    options.cursor = Object.assign({ y: false, drag: { x: true, y: false, setScale: true }, points: { size: 7 } }, options.cursor);
    chart.plot = new uPlot(options, data, box);
    chart.values = blis.element("div", "values");
    chart.values.setAttribute("aria-live", "polite");
    box.after(chart.values);
    chart.redraw = () => chart.plot.redraw(false, true);
    new ResizeObserver(() => {
      const width = Math.max(200, box.clientWidth);
      if (width !== chart.plot.width) chart.plot.setSize({ width: width, height: options.height });
    }).observe(box);
    box.addEventListener("keydown", (e) => keys(chart, e));
    blis.charts.push(chart);
    return chart;
  };

  // sample is a piece of a line as the chart draws it.
  blis.sample = function (i) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("aria-hidden", "true");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    for (const [k, v] of [["x1", 0], ["x2", 26], ["y1", 5], ["y2", 5], ["class", "s" + i], ["stroke-width", 2.5]]) line.setAttribute(k, v);
    if (blis.dashes[i].length) line.setAttribute("stroke-dasharray", blis.dashes[i].join(" "));
    svg.append(line);
    return svg;
  };

  // legend puts a switch for each line below the chart. show is called to hide a line, and
  // say for the text that stands behind its name.
  blis.legend = function (chart, names, show) {
    const at = blis.element("span", "at");
    chart.values.append(at);
    const texts = names.map((name, i) => {
      const entry = blis.element("span");
      const button = blis.element("button");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      button.title = "Hide or show this line";
      button.append(blis.sample(i));
      const label = blis.element("bdi", "", name);
      button.append(label);
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(on));
        show(i, on);
      });
      const value = blis.element("span");
      entry.append(button, " ", value);
      chart.values.append(entry);
      return value;
    });
    chart.say = function (moment, list) {
      at.textContent = moment;
      texts.forEach((t, i) => { t.textContent = list ? list[i] : ""; });
    };
  };

  // together calls f for each chart over time of a group.
  blis.together = (group, f) => blis.charts.filter((c) => c.group === group && c.spec.kind !== "cdf").forEach(f);

  // zoom shows a part of the time of a group, all of it without bounds.
  const shown = {}; // of each group
  blis.zoom = function (group, from, to) {
    const end = blis.charts.find((c) => c.group === group && c.end).end;
    const low = from === undefined ? 0 : Math.max(0, from), high = to === undefined ? end : Math.min(end, to);
    const all = low <= 0 && high >= end;
    shown[group] = [low, high];
    blis.together(group, (c) => c.plot.setScale("x", { min: low, max: high }));
    blis.remember("zoom", all ? "" : group + ":" + Number(low.toPrecision(6)) + "-" + Number(high.toPrecision(6)));
    document.getElementById("reset-zoom").hidden = all;
  };
  // zoomed is the hook of a chart whose scale has changed: by the user, who has dragged, or
  // by zoom, of which the chart learns later.
  blis.zoomed = function (chart, key) {
    if (key !== "x" || !chart.ready) return;
    const { min, max } = chart.plot.scales.x, [low, high] = shown[chart.group] || [0, chart.end];
    if (Math.abs(min - low) + Math.abs(max - high) > 1e-9 * chart.end) blis.zoom(chart.group, min, max);
  };
  blis.zoomFromFragment = function () {
    const found = /^(\w+):([0-9.e+]+)-([0-9.e+]+)$/.exec(blis.fragment().zoom || "");
    if (found && Number(found[2]) < Number(found[3]) && blis.charts.some((c) => c.group === found[1])) {
      blis.zoom(found[1], Number(found[2]), Number(found[3]));
    }
  };
  document.getElementById("reset-zoom").addEventListener("click", () => {
    for (const group of new Set(blis.charts.filter((c) => c.end).map((c) => c.group))) blis.zoom(group);
  });

  // keys: arrows move the cursor, + and − zoom around it, 0 or Escape shows all.
  function keys(chart, e) {
    if (!chart.move || e.ctrlKey || e.altKey || e.metaKey) return;
    const far = e.shiftKey ? 10 : 1;
    const moves = { ArrowLeft: [-far, 0], ArrowRight: [far, 0], ArrowUp: [0, -far], ArrowDown: [0, far], Home: [-1e9, 0], End: [1e9, 0] };
    if (moves[e.key] && (moves[e.key][0] || chart.spec.kind === "heat")) chart.move(...moves[e.key]);
    else if (chart.end && (e.key === "+" || e.key === "=" || e.key === "-")) {
      const { min, max } = chart.plot.scales.x;
      const idx = chart.plot.cursor.idx;
      const middle = idx === null || idx === undefined ? (min + max) / 2 : chart.plot.data[0][idx];
      const half = (max - min) * (e.key === "-" ? 1 : 0.25);
      if (half * 2 > chart.spec.step / 4) blis.zoom(chart.group, middle - half, middle + half);
    } else if (chart.end && (e.key === "0" || e.key === "Escape")) blis.zoom(chart.group);
    else return;
    e.preventDefault();
  }
})();
