"use strict";
// An enhancement only: column headings sort their table, and print shows what is folded.
for (const table of document.querySelectorAll(".table table")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  if (body.rows.length < 3) continue;
  heads.forEach((head, column) => {
    if (head.tagName !== "TH") return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    const numeric = head.classList.contains("num");
    const value = (row) => {
      const cell = row.cells[column];
      return numeric ? Number(cell.dataset.value ?? cell.textContent) : cell.textContent.trim();
    };
    const compare = (a, b) => (numeric ? value(a) - value(b) : value(a).localeCompare(value(b), document.documentElement.lang));
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const down = now ? now === "ascending" : numeric;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      body.append(...[...body.rows].sort((a, b) => (down ? compare(b, a) : compare(a, b))));
    });
  });
}
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((fold) => (fold.open = true)));
