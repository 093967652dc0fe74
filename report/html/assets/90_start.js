/* Draws the page. */
(function () {
  "use strict";

  document.documentElement.classList.add("scripted");
  document.querySelector(".tools").hidden = false;
  blis.setTheme(blis.fragment().theme);
  for (const spec of blis.data.charts) blis[spec.kind](spec);
  blis.zoomFromFragment();

  // An anchor beside other words of the fragment is ours to follow.
  const anchor = blis.fragment().anchor;
  if (anchor && anchor !== "selftest" && document.getElementById(anchor)) document.getElementById(anchor).scrollIntoView();
  window.addEventListener("hashchange", () => {
    const parts = blis.fragment();
    if (parts.theme) blis.setTheme(parts.theme);
    blis.zoomFromFragment();
  });
  if (anchor === "selftest") blis.selftest();
})();
