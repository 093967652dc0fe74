/* The heat map: instances over time. uPlot has the frame, the zoom and the cursor; the
   cells are an image of our own, one pixel each, stretched over the frame. */
(function () {
  "use strict";

  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const most = 4094; // of a cell; one more: the instance was not there

  // Sequential colours in equal steps of lightness, so that they order without hue.
  const scales = {
    light: [[246, 249, 252], [198, 219, 239], [107, 174, 214], [33, 113, 181], [8, 38, 92]],
    dark: [[34, 40, 48], [24, 72, 110], [32, 120, 170], [86, 180, 233], [232, 246, 255]],
  };
  function shade(share) {
    const list = blis.dark() ? scales.dark : scales.light;
    const at = Math.min(0.9999, Math.max(0, share)) * (list.length - 1);
    const k = Math.floor(at), f = at - k;
    return list[k].map((c, i) => Math.round(c + (list[k + 1][i] - c) * f));
  }

  function decode(text) {
    const values = new Int16Array(text.length / 2);
    for (let i = 0; i < values.length; i++) values[i] = (alphabet.indexOf(text[2 * i]) << 6) + alphabet.indexOf(text[2 * i + 1]);
    return values;
  }

  blis.heat = function (spec) {
    const rows = spec.rows.length, columns = spec.columns;
    const layers = spec.layers.map((l) => decode(l.cells));
    let shown = 0;
    const image = document.createElement("canvas");
    image.width = columns;
    image.height = rows;
    function paint() {
      const c = image.getContext("2d"), pixels = c.createImageData(columns, rows);
      layers[shown].forEach((v, i) => {
        if (v > most) return; // stays transparent
        pixels.data.set([...shade(v / most), 255], 4 * i);
      });
      c.putImageData(pixels, 0, 0);
    }
    paint();
    function draw(u) {
      const { min, max } = u.scales.x, c = u.ctx, b = u.bbox;
      const from = min / spec.step, to = Math.min(max / spec.step, columns);
      c.save();
      c.imageSmoothingEnabled = false;
      const width = b.width * (to - from) * spec.step / (max - min);
      c.drawImage(image, from, 0, to - from, rows, b.left, b.top, width, b.height);
      c.restore();
      if (rows <= 32) { // lines between instances
        c.save();
        c.strokeStyle = blis.color("card");
        c.lineWidth = devicePixelRatio;
        for (let r = 1; r < rows; r++) {
          const y = Math.round(b.top + b.height * r / rows);
          c.beginPath();
          c.moveTo(b.left, y);
          c.lineTo(b.left + b.width, y);
          c.stroke();
        }
        c.restore();
      }
    }
    const every = Math.ceil(rows / 14);
    const x = [];
    for (let k = 0; k <= columns; k++) x.push(Math.min(k * spec.step, spec.end));
    // Rows are called by what is behind the common beginning of their names.
    const firsts = spec.rows.map((name) => name.replace(/ to .*/, ""));
    let common = firsts.length > 1 ? firsts[0].length : 0;
    for (const name of firsts) while (!name.startsWith(firsts[0].slice(0, common))) common--;
    const prefix = firsts[0].slice(0, common).replace(/[0-9]+$/, ""); // instance-1 and instance-10 differ in 1 and 10
    common = prefix.length;
    const short = (name) => { const n = name.slice(common); return n.length > 5 ? "…" + n.slice(-4) : n; };
    let chart;
    const options = {
      height: 64 + Math.min(420, Math.max(110, rows * (rows <= 8 ? 26 : rows <= 24 ? 16 : 4))),
      series: [{}, { show: true, stroke: "transparent", points: { show: false } }],
      scales: { x: { time: false, range: (u, low, high) => [low, high] }, y: { range: () => [0, rows], dir: -1 } },
      axes: [blis.timeAxis(spec.end), blis.leftAxis({
        grid: { show: false }, splits: () => spec.rows.map((_, r) => r + 0.5).filter((_, r) => r % every === 0), label: prefix.length > 14 || !prefix ? "instance" : prefix.replace(/[-_ ]+$/, ""), values: (u, all) => all.map((y) => short(firsts[Math.floor(y)])),
      })],
      cursor: { y: true, sync: { key: spec.group, setSeries: false, scales: ["x", null] }, points: { show: false } },
      hooks: { drawClear: [], draw: [draw], setScale: [(u, key) => chart && blis.zoomed(chart, key)], setCursor: [(u) => chart && values(u)] },
    };
    chart = blis.place(spec, options, [x, x.map(() => null)]);
    chart.end = spec.end;
    chart.redraw = () => { paint(); chart.plot.redraw(false, true); scale(); };

    const text = blis.element("span");
    chart.values.append(text);
    function values(u) {
      const l = spec.layers[shown];
      if (u.cursor.left === undefined || u.cursor.left < 0) { text.textContent = ""; return; }
      const column = Math.max(0, Math.min(columns - 1, Math.floor(u.posToVal(u.cursor.left, "x") / spec.step)));
      const row = Math.max(0, Math.min(rows - 1, Math.floor(u.posToVal(u.cursor.top, "y"))));
      const v = layers[shown][row * columns + column];
      const value = l.full * v / most;
      const shownValue = v > most ? "not there" : l.share ? blis.percent(Number(value.toPrecision(3))) : blis.number(Number(value.toPrecision(3)));
      text.textContent = spec.rows[row] + ", from " + blis.seconds(column * spec.step, spec.step) + ": " + l.name.toLowerCase() + " " + shownValue;
    }
    chart.move = function (by, down) {
      const now = chart.plot.cursor.left >= 0 ? Math.floor(chart.plot.posToVal(chart.plot.cursor.left, "x") / spec.step) : -1;
      chart.row = Math.max(0, Math.min(rows - 1, chart.row + down));
      blis.pointAt(chart.group, Math.max(0, Math.min(columns - 1, now + by)) * spec.step + spec.step / 100);
    };

    // The buttons choose what is coloured; the scale says what colours mean.
    const controls = blis.element("div", "controls");
    spec.layers.forEach((l, i) => {
      const button = blis.element("button", "", l.name);
      button.type = "button";
      button.setAttribute("aria-pressed", String(i === 0));
      button.addEventListener("click", () => {
        shown = i;
        [...controls.children].forEach((b, k) => b.setAttribute("aria-pressed", String(k === i)));
        chart.redraw();
      });
      controls.append(button);
    });
    chart.box.before(controls);
    const legend = blis.element("div", "heat-scale"), from = blis.element("span", "", "0"), bar = blis.element("canvas"), to = blis.element("span");
    bar.width = 160;
    bar.height = 1;
    legend.append(from, bar, to);
    chart.values.after(legend);
    function scale() {
      const c = bar.getContext("2d"), l = spec.layers[shown];
      for (let i = 0; i < 160; i++) {
        c.fillStyle = "rgb(" + shade(i / 159).join(",") + ")";
        c.fillRect(i, 0, 1, 1);
      }
      to.textContent = l.share ? blis.percent(Number(l.full.toPrecision(3))) : blis.number(Number(l.full.toPrecision(3))) + " " + l.unit;
    }
    scale();
    chart.ready = true;
    return chart;
  };
})();
