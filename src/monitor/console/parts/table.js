// Tables of figures: one look, right-aligned numbers, a room that scrolls sideways where the window is narrow.

import { fill, h } from "../core/dom.js";
import { t } from "../core/i18n.js";

/**
 * A table. `columns`: {head, cell(item) → text or element, num?, long?, wide?, first?}; `wide` columns leave on phones,
 * `first` is the row's heading. `update(items)` draws other rows.
 */
export function table({ caption, columns, items = [], empty = t("none"), captionShown = false }) {
  const shape = (column) => [column.num && "num", column.long && "long", column.wide && "wide", column.kind].filter(Boolean).join(" ") || null;
  const body = h("tbody");
  const grid = h("table", {},
    h("caption", { class: captionShown ? null : "visually-hidden" }, caption),
    h("thead", {}, h("tr", {}, columns.map((column) => h("th", { scope: "col", class: shape(column) }, column.head)))),
    body);
  const none = h("p", { class: "empty" }, empty);
  const room = roomFor(grid, caption);
  const node = h("div", { class: "table-box" }, room, none);
  const update = (rows) => {
    room.hidden = rows.length === 0;
    none.hidden = rows.length > 0;
    fill(body, rows.map((item) => h("tr", {}, columns.map((column) => {
      const tag = column.first ? "th" : "td";
      return h(tag, { class: shape(column), scope: column.first ? "row" : null }, column.cell(item));
    }))));
  };
  update(items);
  return { node, update };
}

/** A room that scrolls sideways, and can be scrolled by keys while there is something to scroll. */
export function roomFor(grid, caption) {
  const room = h("div", { class: "table", role: "region", "aria-label": caption }, grid);
  sizes.observe(room);
  sizes.observe(grid);
  return room;
}

const sizes = new ResizeObserver((changes) => {
  for (const room of new Set(changes.map(({ target }) => target.closest(".table")))) {
    if (!room) continue;
    if (room.scrollWidth > room.clientWidth + 1) room.setAttribute("tabindex", "0");
    else room.removeAttribute("tabindex");
  }
});

/** Pairs of term and description. */
export function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([term, value]) => [h("dt", {}, term), h("dd", {}, value)]));
}

const BARREN = 50;

/**
 * A list that grows by a button, page by page. `load(cursor)` gives {items, next}; `draw(items, fresh)` shows them, `fresh`
 * when they replace what was there. Gives {node, reload}.
 */
export function pager(load, draw) {
  let cursor = null;
  let round = 0;
  let barren = 0;
  const more = h("button", { type: "button", on: { click: () => step(false) } }, t("more"));
  const wrong = h("p", { class: "wrong", role: "alert", hidden: true });
  const node = h("div", { class: "pager" }, wrong, more);
  async function step(fresh) {
    round += 1;
    const mine = round;
    more.disabled = true;
    try {
      const { items, next } = await load(fresh ? null : cursor);
      if (mine !== round) return;
      cursor = next ?? null;
      wrong.hidden = true;
      draw(items, fresh);
      barren = items.length === 0 && cursor !== null && barren < BARREN ? barren + 1 : 0;
    } catch (error) {
      if (mine !== round || error.name === "AbortError") return;
      wrong.textContent = error.status ? error.message : t("failed.offline");
      wrong.hidden = false;
    } finally {
      if (mine === round) {
        more.disabled = false;
        more.hidden = cursor === null;
        // A server looks through so many rows at a time; none of them may have fitted.
        if (barren > 0) step(false);
      }
    }
  }
  more.hidden = true;
  return { node, reload: () => step(true) };
}
