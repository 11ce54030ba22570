// What the crawl said of itself, newest last; warnings can be read alone.

import { h } from "../core/dom.js";
import { t, word } from "../core/i18n.js";
import { clock } from "../core/format.js";
import { get, ofCrawl } from "../core/api.js";
import { on } from "../core/live.js";
import { paced } from "../core/pace.js";
import { select } from "../parts/form.js";

const GRAVE = ["warn", "warning", "error"];
const REFRESH_MS = 2000;

export default async function log({ id, whenChanged, signal }) {
  const level = select("level", [["", t("log.all")], ["warn", t("log.warnings")]], "", { "aria-label": t("log.level") });
  const list = h("ol", { class: "log", tabindex: "0", "aria-label": t("tab.log") });
  const none = h("p", { class: "empty" }, t("log.none"));
  let lines = [];
  const draw = () => {
    const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
    const shown = lines.filter((line) => !level.value || GRAVE.includes(line.level.toLowerCase()));
    list.replaceChildren(...shown.map((line) => h("li", { "data-level": line.level.toLowerCase() }, h("time", { datetime: line.at }, clock(line.at)), h("span", { class: "level" }, word("level", line.level.toLowerCase())), h("span", {}, line.message))));
    list.hidden = shown.length === 0;
    none.hidden = shown.length > 0;
    if (atEnd) list.scrollTop = list.scrollHeight;
  };
  const load = async () => {
    const { items } = await get(ofCrawl(id, "/log"), { query: { limit: 500 }, signal });
    lines = items.toSorted((a, b) => (a.at < b.at ? -1 : 1));
    draw();
  };
  const later = paced(REFRESH_MS, load, signal);
  level.addEventListener("change", draw);
  whenChanged(later);
  on("tick", later, signal);
  await load();
  return [h("div", { class: "row filters" }, level), none, list];
}
