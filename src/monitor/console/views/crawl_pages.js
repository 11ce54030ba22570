// What was fetched, narrowed by the filter language of `windrow export --where`.

import { h } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { address, get, ofCrawl } from "../core/api.js";
import { note } from "../core/router.js";
import { input, select } from "../parts/form.js";
import { pageItem } from "../parts/pagelist.js";
import { pager } from "../parts/table.js";

const EXAMPLES = { relevant: "relevant", sure: "relevance > 0.9", unsure: "relevance > 0.4 and relevance < 0.6", chinese: 'language = "zh"', failed: 'outcome in ("failed", "gone")' };

export default async function pages({ id, query, signal }) {
  const where = input("where", { type: "search", class: "code", value: query.get("where") ?? "", "aria-label": t("pages.filter"), placeholder: 'relevance > 0.8 and language = "zh"' });
  const sort = select("sort", [["newest", t("pages.newest")], ["relevance", t("pages.by_relevance")]], query.get("sort") ?? "newest", { "aria-label": t("pages.sort") });
  const list = h("ol", { class: "pages" });
  const none = h("p", { class: "empty", hidden: true }, t("pages.none"));
  const save = h("a", { href: "#", download: true }, t("pages.save"));
  const load = (cursor) => get(ofCrawl(id, "/pages"), { query: { where: where.value.trim(), sort: sort.value, cursor, limit: 30 }, signal });
  const more = pager(load, (items, fresh) => {
    const drawn = items.map((page) => pageItem(id, page, { snippet: true }));
    if (fresh) list.replaceChildren(...drawn);
    else list.append(...drawn);
    none.hidden = list.children.length > 0;
  });
  const ask = () => {
    note({ where: where.value.trim(), sort: sort.value === "newest" ? "" : sort.value });
    save.href = address(ofCrawl(id, "/export"), { format: "csv", where: where.value.trim() });
    return more.reload();
  };
  const form = h("form", { class: "row filters", role: "search" }, where, sort, h("button", { type: "submit" }, t("pages.ask")), save);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
  sort.addEventListener("change", ask);
  const examples = h("p", { class: "row examples small" }, t("pages.examples"), Object.entries(EXAMPLES).map(([key, text]) => h("button", { type: "button", class: "chip", on: { click: () => {
    where.value = text;
    ask();
  } } }, t(`pages.example.${key}`))), h("button", { type: "button", class: "chip", on: { click: () => {
    where.value = "";
    ask();
  } } }, t("pages.example.all")));
  await ask();
  return [form, examples, none, list, more.node];
}
