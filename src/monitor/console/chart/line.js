// Lines over a common x: harvest, rate, queue; or of two crawls, each with its own x.

import { s } from "../core/dom.js";
import { frame } from "./frame.js";
import { room, xAxis, yAxis } from "./axes.js";
import { linear, nearest, px, roof, ticks } from "./scale.js";

/**
 * A line chart. `lines`: [{id, label, area?}]; `x`: {head, name, text}, `y`: {text, max?, whole?}.
 * `update(data)`: {id: [[x, y or null], …]} with ascending x; a null interrupts its line.
 */
export function lineChart({ title, note, lines, x, y, height }) {
  let data = {};
  let places = [];
  let lookups = new Map();
  const paths = new Map();
  const latest = (id) => y.text((data[id] ?? []).findLast(([, top]) => typeof top === "number")?.[1] ?? null);
  const value = (id, i) => y.text(lookups.get(id)?.get(places[i]) ?? null);

  const draw = (layer, width, tall) => {
    const highest = y.max ?? roof(Math.max(0, ...Object.values(data).flat().map(([, top]) => top ?? 0)), 4, y.whole);
    const widest = places.at(-1) ?? 1;
    const box = room(width, tall);
    const [toX, toY] = [linear(widest, box.left, box.right), linear(highest, box.bottom, box.top)];
    const grid = s("g", {}, yAxis(box, ticks(highest, 4, y.whole), toY, y.text),
      xAxis(box, ticks(widest, Math.max(2, Math.floor(width / 110)), true), toX, x.tick ?? x.text, x.name));
    layer.querySelector(".frame")?.remove();
    grid.setAttribute("class", "frame");
    layer.prepend(grid);
    for (const line of lines) {
      if (!paths.has(line.id)) {
        const path = s("path", { class: `line ${line.id}` });
        const area = line.area ? s("path", { class: `area ${line.id}` }) : null;
        paths.set(line.id, { path, area });
        layer.append(...[area, path].filter(Boolean));
      }
      const { path, area } = paths.get(line.id);
      const runs = split(data[line.id] ?? []).map((run) => run.map(([at, top]) => [px(toX(at)), px(toY(Math.min(top, highest)))]));
      path.setAttribute("d", runs.map((run) => `M${run.map((point) => point.join(" ")).join("L")}`).join(""));
      area?.setAttribute("d", runs.map((run) => `M${run[0][0]} ${box.bottom}L${run.map((point) => point.join(" ")).join("L")}L${run.at(-1)[0]} ${box.bottom}Z`).join(""));
    }
    return {
      top: box.top,
      bottom: box.bottom,
      place: (i) => px(toX(places[i])),
      at: (left) => nearest(places, ((left - box.left) / (box.right - box.left)) * widest),
      mark: (i) => lines.flatMap(({ id }) => {
        const top = lookups.get(id)?.get(places[i]);
        return typeof top === "number" ? [[id, px(toY(Math.min(top, highest)))]] : [];
      }),
    };
  };

  const base = frame({ title, note, keys: lines, height, x: { head: x.head, text: (i) => x.text(places[i]) }, value, latest, count: () => places.length, draw });
  const update = (next) => {
    data = next;
    places = [...new Set(Object.values(data).flatMap((points) => points.map(([at]) => at)))].sort((a, b) => a - b);
    lookups = new Map(Object.entries(data).map(([id, points]) => [id, fillBetween(points, places)]));
    base.redraw();
  };
  return { node: base.node, update };
}

/** The runs between nulls; a run of one point is a short stroke, so that it can be seen. */
function split(points) {
  const runs = [];
  let run = [];
  for (const point of points) {
    if (typeof point[1] === "number") run.push(point);
    else if (run.length) {
      runs.push(run);
      run = [];
    }
  }
  if (run.length) runs.push(run);
  return runs.map((one) => (one.length === 1 ? [one[0], [one[0][0] + 1e-6, one[0][1]]] : one));
}

/** A value for every place between a line's first and last point, on the straight between its neighbours. */
function fillBetween(points, places) {
  const known = points.filter(([, top]) => typeof top === "number");
  const found = new Map();
  let after = 0;
  for (const place of places) {
    while (after < known.length && known[after][0] < place) after += 1;
    if (after === known.length) break;
    const [at, top] = known[after];
    if (at === place) found.set(place, top);
    else if (after > 0) {
      const [before, low] = known[after - 1];
      found.set(place, low + ((top - low) * (place - before)) / (at - before));
    }
  }
  return found;
}
