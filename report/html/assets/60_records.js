/* Records of requests and decisions, which stand folded in the page, shown by a click; and
   lines of parallel axes, lit with their row of the table. */
(function () {
  "use strict";

  const dialog = document.getElementById("record"), body = document.getElementById("record-body");
  document.addEventListener("click", (e) => {
    const button = e.target.closest ? e.target.closest("button[data-record]") : null;
    const record = button && document.getElementById(button.dataset.record);
    if (!record) return;
    const copy = record.cloneNode(true);
    copy.removeAttribute("id");
    body.replaceChildren(copy);
    dialog.showModal();
  });
  document.getElementById("record-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (e) => { if (e.target === dialog) dialog.close(); });

  for (const line of document.querySelectorAll("g.row[data-row]")) {
    const row = document.getElementById(line.dataset.row);
    const light = (on) => () => {
      line.classList.toggle("lit", on);
      if (row) row.classList.toggle("lit", on);
    };
    line.addEventListener("mouseenter", light(true));
    line.addEventListener("mouseleave", light(false));
    if (row) {
      row.addEventListener("mouseenter", light(true));
      row.addEventListener("mouseleave", light(false));
    }
  }
})();
