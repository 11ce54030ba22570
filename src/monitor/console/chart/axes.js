// Grid, ticks and their words, for charts whose axes begin at 0.

import { s } from "../core/dom.js";

/** The plot's room within `width` × `height`. */
export function room(width, height, left = 46) {
  return { left, right: width - 12, top: 10, bottom: height - 26 };
}

/** Horizontal lines with words at the left. */
export function yAxis(box, marks, y, text) {
  return marks.map((mark) => [
    s("line", { class: mark === 0 ? "axis" : "grid", x1: box.left, x2: box.right, y1: y(mark), y2: y(mark) }),
    s("text", { x: box.left - 8, y: y(mark) + 4, "text-anchor": "end" }, text(mark)),
  ]).flat();
}

/** Words below; `name` at the right end, where no tick comes near it. */
export function xAxis(box, marks, x, text, name) {
  const nameRoom = name.length * (/[\u2e80-\uffff]/.test(name) ? 13 : 6.6) + 12;
  const words = marks.filter((mark) => x(mark) < box.right - nameRoom - 12 || mark === 0).map((mark) => [
    s("line", { class: "axis", x1: x(mark), x2: x(mark), y1: box.bottom, y2: box.bottom + 4 }),
    s("text", { x: x(mark), y: box.bottom + 18, "text-anchor": "middle" }, text(mark)),
  ]).flat();
  return [...words, s("text", { x: box.right, y: box.bottom + 18, "text-anchor": "end" }, name)];
}
