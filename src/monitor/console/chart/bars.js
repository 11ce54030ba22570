// Columns by day, stacked.

import { s } from "../core/dom.js";
import { frame } from "./frame.js";
import { room, yAxis } from "./axes.js";
import { linear, px, roof, ticks } from "./scale.js";

/**
 * A bar chart. `parts`: [{id, label}], stacked from the bottom; `x`: {head, text(row), tick(row)}; `y`: {text}.
 * `update(rows)`: objects with a number for each part's id.
 */
export function barChart({ title, note, parts, x, y, height }) {
  let rows = [];
  const draw = (layer, width, tall) => {
    const sum = (row) => parts.reduce((all, { id }) => all + (row[id] ?? 0), 0);
    const highest = roof(Math.max(0, ...rows.map(sum)), 4, true);
    const box = room(width, tall);
    const toY = linear(highest, box.bottom, box.top);
    const slot = (box.right - box.left) / Math.max(1, rows.length);
    const bar = Math.max(1, Math.min(slot * 0.7, 48));
    const middle = (i) => px(box.left + slot * (i + 0.5));
    const every = Math.ceil(rows.length / Math.max(1, Math.floor(width / 72)));
    const drawn = rows.flatMap((row, i) => {
      let below = 0;
      return parts.map(({ id }) => {
        const size = row[id] ?? 0;
        const [top, foot] = [toY(below + size), toY(below)];
        below += size;
        return s("rect", { class: `column ${id}`, x: px(middle(i) - bar / 2), y: px(top), width: px(bar), height: px(foot - top) });
      });
    });
    const words = rows.map((row, i) => (i % every === 0 ? s("text", { x: middle(i), y: box.bottom + 18, "text-anchor": "middle" }, x.tick(row)) : null));
    layer.replaceChildren(s("g", { class: "frame" }, yAxis(box, ticks(highest, 4, true), toY, y.text)), s("g", {}, drawn), s("g", {}, words));
    return {
      top: box.top,
      bottom: box.bottom,
      place: middle,
      at: (left) => Math.max(0, Math.min(rows.length - 1, Math.floor((left - box.left) / slot))),
      mark: () => [],
    };
  };
  const value = (id, i) => y.text(rows[i][id] ?? 0);
  const base = frame({ title, note, keys: parts, height, x: { head: x.head, text: (i) => x.text(rows[i]) }, value, count: () => rows.length, draw });
  return { node: base.node, update: (next) => {
    rows = next;
    base.redraw();
  } };
}
