// Two crawls side by side: their curves over one another, their figures, the pages both found.

import { fill, h } from "../core/dom.js";
import { t, word } from "../core/i18n.js";
import { bytes, duration, number, percent, short } from "../core/format.js";
import { get } from "../core/api.js";
import { note } from "../core/router.js";
import { lineChart } from "../chart/line.js";
import { shares } from "../chart/small.js";
import { field, select } from "../parts/form.js";
import { nameOf } from "../parts/state.js";
import { table } from "../parts/table.js";

const MEASURES = { recent_harvest: [(share) => percent(share, 0), 1], harvest: [(share) => percent(share, 0), 1], relevant: [short], waiting: [short] };

export default async function compare({ query, signal }) {
  const { items } = await get("/crawls", { signal });
  const title = h("div", { class: "head" }, h("h1", {}, t("nav.compare")));
  if (items.length < 2) return [title, h("p", { class: "headline" }, t("compare.too_few"))];
  const names = items.map((crawl) => [crawl.id, nameOf(crawl)]);
  const first = query.get("a") ?? items[0].id;
  const second = query.get("b") ?? items.find(({ id }) => id !== first)?.id;
  const a = select("a", names, first);
  const b = select("b", names, second);
  const measure = select("measure", Object.keys(MEASURES).map((name) => [name, t(`compare.${name}`)]), query.get("measure") ?? "recent_harvest");
  const result = h("div", { id: "comparison" });
  const show = async () => {
    note({ a: a.value, b: b.value, measure: measure.value === "recent_harvest" ? "" : measure.value });
    if (a.value === b.value) return void fill(result, h("p", { class: "empty" }, t("compare.same")));
    try {
      fill(result, ...draw(await get("/compare", { query: { a: a.value, b: b.value }, signal }), measure.value));
    } catch (error) {
      if (error.name !== "AbortError") fill(result, h("p", { class: "wrong", role: "alert" }, error.status ? error.message : t("failed.offline")));
    }
  };
  for (const control of [a, b, measure]) control.addEventListener("change", show);
  await show();
  return [title, h("div", { class: "fields three" }, field(t("compare.first"), a), field(t("compare.second"), b), field(t("compare.measure"), measure)), result];
}

function draw(told, measure) {
  const { a, b } = told;
  const [text, max] = MEASURES[measure];
  const chart = lineChart({
    title: t(`compare.${measure}`),
    note: t("compare.note"),
    lines: [{ id: "first", label: nameOf(a) }, { id: "second", label: nameOf(b) }],
    x: { head: t("chart.pages"), name: t("chart.pages_axis"), text: (pages) => t("chart.at_page", { page: number(pages) }), tick: short },
    y: { text, max },
    height: 300,
  });
  const value = (point) => (measure === "relevant" ? Math.round((point.harvest ?? 0) * point.pages) : point[measure]);
  const points = (crawl) => crawl.points.map((point) => [point.pages, value(point)]);
  chart.update({ first: points(a), second: points(b) });
  const share = (crawl) => (crawl.fetched ? crawl.relevant / crawl.fetched : null);
  const rows = [
    ["state", (crawl) => word("state", crawl.state)],
    ["fetched", (crawl) => number(crawl.fetched)],
    ["relevant", (crawl) => number(crawl.relevant)],
    ["harvest", (crawl) => percent(share(crawl))],
    ["recent", (crawl) => percent(crawl.recent_harvest)],
    ["waiting", (crawl) => number(crawl.waiting)],
    ["bytes", (crawl) => bytes(crawl.bytes)],
    ["time", (crawl) => duration(crawl.elapsed_ms)],
  ];
  const link = (crawl) => h("a", { href: `/crawls/${encodeURIComponent(crawl.id)}` }, nameOf(crawl));
  const figures = table({
    caption: t("compare.figures"),
    items: rows,
    columns: [
      { head: t("models.measure"), first: true, cell: ([key]) => t(`col.${key}`) },
      { head: link(a), num: true, cell: ([, show]) => show(a) },
      { head: link(b), num: true, cell: ([, show]) => show(b) },
    ],
  });
  return [
    chart.node,
    figures.node,
    h("section", {}, h("h2", {}, t("compare.pages")),
      shares([["first", told.only_a], ["both", told.shared_pages], ["second", told.only_b]]),
      h("ul", { class: "keys" },
        h("li", {}, h("span", { class: "block-swatch first" }), t("compare.only", { name: nameOf(a), count: number(told.only_a) })),
        h("li", {}, h("span", { class: "block-swatch both" }), t("compare.both", { count: number(told.shared_pages), relevant: number(told.shared_relevant) })),
        h("li", {}, h("span", { class: "block-swatch second" }), t("compare.only", { name: nameOf(b), count: number(told.only_b) })))),
  ];
}
