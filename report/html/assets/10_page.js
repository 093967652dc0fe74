/* What all parts of the page share: numbers, colours, the theme, and the fragment of
   the address, which holds the theme and the zoom so that a link shows the same. */
var blis = (function () {
  "use strict";

  const self = { charts: [], failures: [] };
  const root = document.documentElement;

  // Whatever goes wrong is kept for the self-test.
  window.addEventListener("error", (e) => self.failures.push("error: " + e.message));
  document.addEventListener("securitypolicyviolation", (e) => self.failures.push("blocked by the policy: " + e.violatedDirective));

  self.data = JSON.parse(document.getElementById("data").textContent);

  // number writes a number with at least three significant digits and thin spaces
  // between groups of digits, as the tables do.
  self.number = function (x) {
    if (x === null || x === undefined || !isFinite(x)) return "–";
    if (x === 0) return "0";
    const a = Math.abs(x);
    if (a < 1e-4 || a >= 1e12) return x.toExponential(2).replace("-", "−");
    const decimals = Number.isInteger(x) ? 0 : Math.max(0, 2 - Math.floor(Math.log10(a)));
    const [whole, rest] = a.toFixed(Math.min(decimals, 6)).split(".");
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
    return (x < 0 ? "−" : "") + grouped + (rest ? "." + rest : "");
  };

  // tick writes a number without zeros at its end.
  self.tick = function (x) {
    const text = self.number(Number(x.toPrecision(6)));
    return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  };

  // short writes a number for an axis: 20 k, 1.5 M.
  self.short = function (x) {
    const a = Math.abs(x);
    return a >= 1e6 ? self.tick(x / 1e6) + "\u202fM" : a >= 1e4 ? self.tick(x / 1e3) + "\u202fk" : self.tick(x);
  };

  self.percent = (x) => (x === null || x === undefined ? "–" : self.tick(100 * x) + "\u202f%");

  // color is the value of a colour of the style sheet in the theme of now.
  self.color = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();

  // faded is a colour with an alpha, for bands.
  self.faded = (name, alpha) => self.color(name) + Math.round(255 * alpha).toString(16).padStart(2, "0");

  // Dashes tell lines apart where colours do not.
  self.dashes = [[], [9, 4], [2, 3], [10, 3, 2, 3], [5, 5], [14, 4, 2, 4, 2, 4], [1, 4], [18, 4]];

  // The fragment: words with &, some of them as name=value.
  self.fragment = function () {
    const parts = {};
    for (const part of decodeURIComponent(location.hash.slice(1)).split("&")) {
      const at = part.indexOf("=");
      if (at > 0) parts[part.slice(0, at)] = part.slice(at + 1);
      else if (part) parts.anchor = part;
    }
    return parts;
  };

  // remember writes a name of the fragment, or takes it out without a value.
  self.remember = function (name, value) {
    const parts = self.fragment();
    if (value) parts[name] = value;
    else delete parts[name];
    const words = parts.anchor ? [parts.anchor] : [];
    for (const key of Object.keys(parts).sort()) {
      if (key !== "anchor") words.push(key + "=" + parts[key]);
    }
    const now = words.length ? "#" + words.join("&") : "";
    if (now !== location.hash) history.replaceState(null, "", now || location.pathname + location.search);
  };

  // The theme is that of the system until the button or the fragment says otherwise.
  const button = document.getElementById("theme");
  self.dark = function () {
    const chosen = root.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };
  self.setTheme = function (theme) {
    if (theme === "dark" || theme === "light") root.dataset.theme = theme;
    button.textContent = self.dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", self.dark() ? "Use the light theme" : "Use the dark theme");
    for (const chart of self.charts) chart.redraw();
  };
  button.addEventListener("click", () => {
    const theme = self.dark() ? "light" : "dark";
    self.setTheme(theme);
    self.remember("theme", theme);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => self.setTheme());

  // element makes an element with a text, never with markup.
  self.element = function (tag, className, text) {
    const e = document.createElement(tag);
    if (className) e.className = className;
    if (text !== undefined) e.textContent = text;
    return e;
  };

  return self;
})();
