// What every chart has: title, a legend that shows the figures read off, a plot that fits its room, and the figures as a table.
// Promises: pointer, finger and arrow keys read off the same figures; screen readers get them as the value of a slider, and
// the whole chart as a table. Drawing itself is the caller's.

import { freshId, h, s, setText } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { table } from "../parts/table.js";

/**
 * A figure.
 * `title`, `note`: words above. `keys`: [{id, label}], classes for the swatches. `height`: of the plot in pixels.
 * `x`: {head, text(i) → words} of the place read off; `value(id, i)` → words, `count()` → how many places there are;
 * `latest(id)` → words, shown while nothing is read off.
 * `draw(svg, width, height)` → {place(i) → x in pixels, mark(i) → [[id, y], …], at(x) → i}; called at every change of size.
 */
export function frame({ title, note = "", keys, height = 220, x, value, latest, count, draw }) {
  const id = freshId("chart");
  const place = h("span", { class: "place" });
  const legend = keys.map((key) => {
    const figure = h("span", { class: "figure" });
    const node = h("span", { class: "key", "data-key": key.id }, h("span", { class: `swatch ${key.id}` }), key.label, " ", figure);
    return { ...key, node, figure };
  });
  const svg = s("svg", { class: "chart", "aria-hidden": "true", focusable: "false", height });
  const layer = s("g", { class: "drawn" });
  const cursor = s("g", { class: "cursor" });
  svg.append(layer, cursor);
  const plot = h("div", { class: "plot", role: "slider", tabindex: "0", "aria-labelledby": `${id}-title`, "aria-valuemin": 0, "aria-orientation": "horizontal" }, svg);
  const none = h("p", { class: "empty chart-empty" }, t("chart.empty"));
  plot.append(none);
  const columns = [{ head: x.head, first: true, cell: (i) => x.text(i) }, ...keys.map((key) => ({ head: key.label, num: true, cell: (i) => value(key.id, i) }))];
  let rows = null;
  const fold = h("details", { class: "as-table" }, h("summary", {}, t("chart.as_table")));
  fold.addEventListener("toggle", () => fold.open && showRows());
  const node = h("figure", {},
    h("figcaption", {}, h("strong", { id: `${id}-title` }, title), note ? h("span", { class: "small" }, note) : null, h("span", { class: "keys" }, legend.map((key) => key.node), place)),
    plot, fold);

  let drawn = null;
  let chosen = null; // null: the newest figures
  const show = () => {
    const all = count();
    const at = Math.min(chosen ?? all - 1, all - 1);
    const known = all > 0;
    none.hidden = known;
    const text = (key) => (chosen === null && latest ? latest(key.id) : value(key.id, at));
    for (const key of legend) setText(key.figure, known ? text(key) : "");
    setText(place, known && chosen !== null ? x.text(at) : "");
    plot.setAttribute("aria-valuemax", Math.max(0, all - 1));
    plot.setAttribute("aria-valuenow", known ? at : 0);
    plot.setAttribute("aria-valuetext", known ? [x.text(at), ...legend.map((key) => `${key.label} ${text(key)}`)].join(", ") : t("chart.empty"));
    cursor.replaceChildren();
    if (chosen === null || !drawn || !known) return;
    const left = drawn.place(at);
    cursor.append(s("line", { class: "hair", x1: left, x2: left, y1: drawn.top, y2: drawn.bottom }));
    for (const [key, top] of drawn.mark(at)) cursor.append(s("circle", { class: `dot ${key}`, cx: left, cy: top, r: 4 }));
  };
  const redraw = () => {
    const width = Math.floor(plot.clientWidth);
    if (width < 40) return;
    svg.setAttribute("width", width);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    drawn = draw(layer, width, height);
    show();
  };
  const showRows = () => {
    const all = count();
    const step = Math.max(1, Math.ceil(all / 40)); // enough to follow the shape, few enough to read
    const picked = [];
    for (let i = all - 1; i >= 0; i -= step) picked.unshift(i);
    if (!rows) {
      rows = table({ caption: title, columns });
      fold.append(rows.node);
    }
    rows.update(picked);
  };
  const choose = (at) => {
    chosen = at;
    show();
  };
  plot.addEventListener("pointermove", (event) => drawn && count() && choose(drawn.at(event.clientX - svg.getBoundingClientRect().left)));
  plot.addEventListener("pointerdown", (event) => drawn && count() && choose(drawn.at(event.clientX - svg.getBoundingClientRect().left)));
  plot.addEventListener("pointerleave", () => choose(null));
  plot.addEventListener("blur", () => choose(null));
  plot.addEventListener("keydown", (event) => {
    const all = count();
    const now = chosen ?? all - 1;
    const far = Math.max(1, Math.round(all / 10));
    const steps = { ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1, PageDown: now - far, PageUp: now + far, Home: 0, End: all - 1 };
    if (!(event.key in steps) || all === 0) return;
    event.preventDefault();
    choose(Math.max(0, Math.min(all - 1, steps[event.key])));
  });
  new ResizeObserver(redraw).observe(plot);
  return { node, redraw: () => {
    redraw();
    if (fold.open) showRows();
  }, layer };
}
