// The hosts a crawl met: what they gave, what waits, how patiently they are asked.

import { h } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { bytes, clock, delay, number, percent, relative } from "../core/format.js";
import { get, ofCrawl } from "../core/api.js";
import { on } from "../core/live.js";
import { note } from "../core/router.js";
import { bar } from "../chart/small.js";
import { select } from "../parts/form.js";
import { pager, table } from "../parts/table.js";

const PART = 50;

/** When a host may be asked again. A recorded web has a clock of its own, which lies far from ours. */
function backoff(until) {
  if (!until) return "–";
  const far = Math.abs(new Date(until) - Date.now()) > 7 * 86_400_000;
  return h("span", { class: "warning" }, far ? clock(until) : relative(until));
}

export default async function hosts({ id, query, signal }) {
  const share = (host) => (host.fetched ? host.relevant / host.fetched : null);
  const sort = select("sort", ["yield", "pages", "backoff"].map((name) => [name, t(`hosts.by_${name}`)]), query.get("sort") ?? "yield", { "aria-label": t("pages.sort") });
  const view = table({
    caption: t("tab.hosts"),
    empty: t("hosts.none"),
    columns: [
      { head: t("col.host"), first: true, long: true, cell: (host) => h("a", { href: `/crawls/${encodeURIComponent(id)}/pages?where=${encodeURIComponent(`host = "${host.host}"`)}` }, host.host) },
      { head: t("col.fetched"), num: true, cell: (host) => number(host.fetched) },
      { head: t("col.relevant"), num: true, cell: (host) => number(host.relevant) },
      { head: t("col.harvest"), num: true, wide: true, cell: (host) => percent(share(host), 0) },
      { head: h("span", { class: "visually-hidden" }, t("col.drawn")), kind: "drawing wide", cell: (host) => bar(share(host)) },
      { head: t("col.waiting"), num: true, cell: (host) => h("a", { href: `/crawls/${encodeURIComponent(id)}/frontier?host=${encodeURIComponent(host.host)}`, "aria-label": t("hosts.links_of", { host: host.host, count: number(host.waiting) }) }, number(host.waiting)) },
      { head: t("hosts.requests"), num: true, wide: true, cell: (host) => number(host.requests) },
      { head: t("hosts.refused"), num: true, wide: true, cell: (host) => number(host.refused_429) },
      { head: t("hosts.delay"), num: true, wide: true, cell: (host) => delay(host.delay_ms) },
      { head: t("hosts.backoff"), wide: true, cell: (host) => backoff(host.backoff_until) },
      { head: "robots.txt", wide: true, long: true, cell: (host) => host.robots || "–" },
      { head: t("col.bytes"), num: true, wide: true, cell: (host) => bytes(host.bytes) },
    ],
  });
  let rows = [];
  const more = pager((cursor) => get(ofCrawl(id, "/hosts"), { query: { sort: sort.value, cursor, limit: PART }, signal }), (items, fresh) => {
    rows = fresh ? items : [...rows, ...items];
    view.update(rows);
  });
  sort.addEventListener("change", () => {
    note({ sort: sort.value === "yield" ? "" : sort.value });
    more.reload();
  });
  // Who has asked for more reads further down: the list stays as it is then.
  on("tick", () => rows.length <= PART && more.reload(), signal);
  await more.reload();
  return [h("div", { class: "row filters" }, sort), view.node, more.node];
}
