/* The self-test: #selftest does what people do with the page and writes its verdict into
   the page. The tests of the project read it there. */
(function () {
  "use strict";

  // A page that nobody sees draws no frames, so that there is nothing to wait for but time.
  const wait = () => new Promise((done) => setTimeout(done, 20));
  const press = (box, key) => box.dispatchEvent(new KeyboardEvent("keydown", { key: key, bubbles: true, cancelable: true }));

  function check(ok, what) {
    if (!ok) throw new Error(what);
  }

  async function theme() {
    const before = getComputedStyle(document.body).backgroundColor, dark = blis.dark();
    document.getElementById("theme").click();
    await wait();
    check(blis.dark() !== dark, "the button does not change the theme");
    check(getComputedStyle(document.body).backgroundColor !== before, "the theme does not change the background");
    document.getElementById("theme").click();
    await wait();
    check(getComputedStyle(document.body).backgroundColor === before, "the theme does not change back");
  }

  // ink reports whether anything is drawn inside the frame of a chart.
  function ink(plot) {
    const { left, top, width, height } = plot.bbox;
    const pixels = plot.ctx.getImageData(left, top, width, height).data;
    const first = pixels.slice(0, 4).join();
    for (let i = 0; i < pixels.length; i += 4) {
      if (pixels[i] + "," + pixels[i + 1] + "," + pixels[i + 2] + "," + pixels[i + 3] !== first) return true;
    }
    return false;
  }

  async function charts() {
    check(blis.charts.length === blis.data.charts.length, "not all charts were drawn");
    for (const c of blis.charts) check(ink(c.plot), "nothing is drawn in " + c.spec.id);
  }

  async function zoom() {
    const c = blis.charts.find((c) => c.end);
    if (!c) return;
    c.plot.setScale("x", { min: c.end / 4, max: c.end / 2 });
    await wait();
    blis.together(c.group, (other) => check(Math.abs(other.plot.scales.x.max - c.end / 2) < 1e-6, "the zoom is not that of all charts"));
    check(/zoom=/.test(location.hash), "the zoom is not in the address");
    press(c.box, "0");
    await wait();
    check(c.plot.scales.x.min === 0 && !/zoom=/.test(location.hash), "0 does not show all again");
  }

  async function hover() {
    for (const c of blis.charts) {
      const area = c.plot.over.getBoundingClientRect();
      const at = { clientX: area.left + area.width / 3, clientY: area.top + area.height / 2, bubbles: true };
      c.plot.over.dispatchEvent(new MouseEvent("mouseenter", at));
      c.plot.over.dispatchEvent(new MouseEvent("mousemove", at));
      await wait();
      check(/\d/.test(c.values.textContent), "pointing at " + c.spec.id + " shows no value");
      if (c.spec.kind === "time") blis.together(c.group, (other) => check(other.plot.cursor.left > 0, "cursors are not linked"));
      c.plot.over.dispatchEvent(new MouseEvent("mouseleave", at));
    }
  }

  async function keyboard() {
    for (const c of blis.charts) {
      c.box.focus();
      check(document.activeElement === c.box, c.spec.id + " cannot be focused");
      press(c.box, "Home");
      const before = c.values.textContent;
      press(c.box, "ArrowRight");
      press(c.box, "ArrowRight");
      await wait();
      check(c.values.textContent !== before || (c.spec.bins || c.spec.columns) < 3, "the arrow keys do not move the cursor of " + c.spec.id);
      if (c.end && (c.spec.bins || c.spec.columns) > 3) {
        press(c.box, "+");
        await wait();
        check(/zoom=/.test(location.hash), "+ does not zoom");
        press(c.box, "Escape");
        await wait();
        check(!/zoom=/.test(location.hash), "Escape does not show all");
      }
    }
  }

  async function records() {
    const button = document.querySelector("button[data-record]");
    if (!button) return;
    button.click();
    await wait();
    const dialog = document.getElementById("record");
    check(dialog.open && dialog.querySelector(".record dd"), "no record opens");
    document.getElementById("record-close").click();
    check(!dialog.open, "the record does not close");
  }

  async function frame() {
    check(document.scripts.length === 2, "there are " + document.scripts.length + " scripts");
    check(document.head.firstElementChild.httpEquiv === "Content-Security-Policy", "the policy is not the first element");
    check(performance.getEntriesByType("resource").length === 0, "the page asked for a resource");
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    check(wide <= 0, "the page is " + wide + " pixels too wide");
    for (const e of document.querySelectorAll("*")) {
      for (const a of e.attributes) check(!/^on/i.test(a.name), "an element has the attribute " + a.name);
    }
  }

  blis.selftest = async function () {
    const out = document.getElementById("selftest");
    out.hidden = false;
    try {
      await wait();
      for (const test of [frame, theme, charts, zoom, hover, keyboard, records]) await test();
      check(blis.failures.length === 0, blis.failures.join("; "));
      out.textContent = "passed";
    } catch (e) {
      out.textContent = "failed: " + e.message;
    }
  };
})();
