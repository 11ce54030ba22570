// The small tables beside a crawl's curve: model health, what tunnels pay, templates in quarantine.

import { fill, h } from "../core/dom.js";
import { t, word } from "../core/i18n.js";
import { fixed, number, percent } from "../core/format.js";
import { get, maySteer, ofCrawl, send } from "../core/api.js";
import { bar } from "../chart/small.js";
import { isSteerable } from "../parts/state.js";
import { attempt, toast } from "../parts/toast.js";
import { facts, table } from "../parts/table.js";

/** Harvest by the number of irrelevant pages in a row before a page. */
export function tunnels() {
  const share = (row) => (row.fetched ? row.relevant / row.fetched : null);
  return table({
    caption: t("tunnel.title"),
    empty: t("tunnel.none"),
    columns: [
      { head: t("tunnel.depth"), first: true, cell: (row) => (row.depth === 0 ? t("tunnel.zero") : number(row.depth)) },
      { head: t("col.fetched"), num: true, cell: (row) => number(row.fetched) },
      { head: t("col.relevant"), num: true, cell: (row) => number(row.relevant) },
      { head: t("col.harvest"), num: true, cell: (row) => percent(share(row), 0) },
      { head: h("span", { class: "visually-hidden" }, t("col.drawn")), kind: "drawing", cell: (row) => bar(share(row)) },
    ],
  });
}

/** Templates that are held, each with a button that lets them go while the crawl can hear of it. */
export function traps(id, current, signal) {
  const release = (trap) => async (event) => {
    const done = await attempt(event.currentTarget, () => send("POST", ofCrawl(id, "/traps/release"), { template: trap.template }));
    if (!done) return;
    toast(t("traps.released", { n: done.released, count: number(done.released) }));
    await load();
  };
  const columns = [
    { head: t("traps.template"), first: true, long: true, cell: (trap) => h("code", {}, trap.template) },
    { head: t("traps.state"), wide: true, cell: (trap) => word("trap", trap.state) },
    { head: t("col.fetched"), num: true, wide: true, cell: (trap) => number(trap.fetched) },
    { head: t("traps.yield"), num: true, wide: true, cell: (trap) => percent(trap.yield, 0) },
    { head: t("traps.held"), num: true, cell: (trap) => number(trap.held) },
  ];
  if (maySteer()) columns.push({ head: h("span", { class: "visually-hidden" }, t("do.label")), cell: (trap) => (isSteerable(current()) ? h("button", { type: "button", class: "quiet", "aria-label": t("traps.release_of", { template: trap.template }), on: { click: release(trap) } }, t("traps.release")) : "") });
  const view = table({ caption: t("traps.title"), empty: t("traps.none"), columns });
  let shown = "";
  const load = async () => {
    const { items } = await get(ofCrawl(id, "/traps"), { signal });
    const next = JSON.stringify([isSteerable(current()), items]);
    if (next === shown) return; // drawing the same anew would take the focus from its buttons
    shown = next;
    view.update(items);
  };
  return { node: view.node, load };
}

/** How good the models are that judge pages and links. */
export function modelHealth(id, signal) {
  const node = h("div");
  const load = async () => {
    const { versions, page_classifier: pages, link_classifier: links } = await get(ofCrawl(id, "/models"), { signal });
    const current = versions.find((version) => version.current);
    fill(node, facts([
      [t("models.version"), current ? number(current.version) : t("models.own")],
      [t("models.page_auc"), current?.auc === undefined || current.auc === null ? null : fixed(current.auc, 3)],
      [t("models.page_ece"), current?.ece === undefined || current.ece === null ? null : fixed(current.ece, 3)],
      [t("models.learned"), pages ? t("models.learned_value", { pages: number(pages.pages_learned), positives: number(pages.positives) }) : null],
      [t("models.threshold"), pages ? fixed(pages.threshold) : null],
      [t("models.lessons"), links ? number(links.lessons) : null],
      [t("models.link_auc"), typeof links?.auc === "number" ? fixed(links.auc, 3) : null],
    ]));
  };
  return { node, load };
}

/** Two sets of figures side by side, with what changed. */
export function beforeAfter(before, after) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].filter((name) => [before?.[name], after?.[name]].some((value) => typeof value === "number"));
  return table({
    caption: t("models.comparison"),
    items: names,
    columns: [
      { head: t("models.measure"), first: true, cell: (name) => word("measure", name) },
      { head: t("models.before"), num: true, cell: (name) => number(before?.[name], 3) },
      { head: t("models.after"), num: true, cell: (name) => number(after?.[name], 3) },
    ],
  }).node;
}
