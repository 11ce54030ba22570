// What each day brought: pages and relevant ones; of pages seen before, what changed and what is gone.

import { h } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { day, number, percent, short } from "../core/format.js";
import { get, ofCrawl } from "../core/api.js";
import { on } from "../core/live.js";
import { barChart } from "../chart/bars.js";
import { table } from "../parts/table.js";

export default async function days({ id, signal }) {
  const x = { head: t("days.day"), text: (row) => day(row.day), tick: (row) => day(row.day, { month: "numeric", day: "numeric" }) };
  const y = { text: short };
  const fetched = barChart({ title: t("days.fetched"), x, y, parts: [{ id: "found", label: t("col.relevant") }, { id: "other", label: t("days.other") }], height: 220 });
  const again = barChart({ title: t("days.again"), note: t("days.again_note"), x, y, parts: [{ id: "changed", label: t("days.changed") }, { id: "unchanged", label: t("days.unchanged") }, { id: "gone", label: t("days.gone") }], height: 180 });
  const figures = table({
    caption: t("tab.days"),
    columns: [
      { head: t("days.day"), first: true, cell: (row) => day(row.day) },
      ...["fetched", "relevant"].map((key) => ({ head: t(`col.${key}`), num: true, cell: (row) => number(row[key]) })),
      { head: t("col.harvest"), num: true, cell: (row) => percent(row.fetched ? row.relevant / row.fetched : null) },
      ...["changed", "unchanged", "gone"].map((key) => ({ head: t(`days.${key}`), num: true, wide: true, cell: (row) => number(row[key]) })),
    ],
  });
  const againBox = h("section", {}, again.node);
  const none = h("p", { class: "empty" }, t("days.none"));
  const some = h("div", {}, h("section", {}, fetched.node), againBox, figures.node);
  const load = async () => {
    const { by_day: rows } = await get(ofCrawl(id, "/metrics"), { query: { points: 2 }, signal });
    none.hidden = rows.length > 0;
    some.hidden = rows.length === 0;
    againBox.hidden = !rows.some((row) => row.changed || row.unchanged || row.gone);
    fetched.update(rows.map((row) => ({ day: row.day, found: row.relevant, other: Math.max(0, row.fetched - row.relevant) })));
    again.update(rows);
    figures.update(rows.toReversed());
  };
  on("tick", () => load().catch(() => {}), signal);
  await load();
  return [none, some];
}
