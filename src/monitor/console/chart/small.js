// Drawings the size of a word: sparklines, bars of a share, parts that lean for or against. All decorate figures that are
// written beside them, and are hidden from screen readers.

import { s } from "../core/dom.js";
import { px } from "./scale.js";

const HIDDEN = { "aria-hidden": "true", focusable: "false", preserveAspectRatio: "none" };

/** A share over time, 0..=1. */
export function spark() {
  const line = s("path", { class: "line recent" });
  const area = s("path", { class: "area recent" });
  const node = s("svg", { class: "spark", viewBox: "0 0 100 28", ...HIDDEN }, s("line", { class: "grid", x1: 0, x2: 100, y1: 27, y2: 27 }), area, line);
  const update = (shares) => {
    const points = shares.map((share, i) => `${px(shares.length > 1 ? (i / (shares.length - 1)) * 100 : 50)} ${px(26 - Math.max(0, Math.min(1, share)) * 24)}`);
    const drawn = points.length > 1;
    line.setAttribute("d", drawn ? `M${points.join("L")}` : "");
    area.setAttribute("d", drawn ? `M0 27L${points.join("L")}L100 27Z` : "");
  };
  return { node, update };
}

/** A share 0..=1 as a bar. */
export function bar(share, kind = "") {
  const width = px(Math.max(0, Math.min(1, share || 0)) * 100);
  return s("svg", { class: "share", viewBox: "0 0 100 10", ...HIDDEN },
    s("rect", { class: "bar-room", width: 100, height: 10 }), s("rect", { class: `bar-fill ${kind}`, width, height: 10 }));
}

/** A part that leans right for, or left against; `extent` is the largest shown. */
export function lean(part, extent) {
  const size = Math.max(-1, Math.min(1, part / (extent || 1))) * 100;
  return s("svg", { class: "lean", viewBox: "-102 0 204 16", ...HIDDEN },
    s("rect", { class: "bar-room", x: -102, y: 3, width: 204, height: 10 }),
    s("rect", { class: size < 0 ? "against" : "bar-fill", x: px(Math.min(0, size)), y: 3, width: px(Math.abs(size)), height: 10 }),
    s("line", { class: "zero", x1: 0, x2: 0, y1: 0, y2: 16 }));
}

/** Counts side by side in one bar. `parts`: [[class, count], …]. */
export function shares(parts) {
  const all = parts.reduce((sum, [, count]) => sum + count, 0) || 1;
  let left = 0;
  return s("svg", { class: "share tall", viewBox: "0 0 100 10", ...HIDDEN }, parts.map(([kind, count]) => {
    const width = (count / all) * 100;
    const rect = s("rect", { class: `column ${kind}`, x: px(left), width: px(width), height: 10 });
    left += width;
    return rect;
  }));
}
