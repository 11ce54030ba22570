// One crawl: its name, state and buttons, and a tab for each side of it.

import { h, setText } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { address, get, ofCrawl } from "../core/api.js";
import { on } from "../core/live.js";
import { paced } from "../core/pace.js";
import { learnServers, serverName } from "../core/servers.js";
import { actions } from "../parts/actions.js";
import { alertList } from "../parts/alerts.js";
import { badge, ending, nameOf } from "../parts/state.js";
import { say, toast } from "../parts/toast.js";

const TABS = {
  now: () => import("./crawl_now.js"),
  pages: () => import("./crawl_pages.js"),
  frontier: () => import("./crawl_frontier.js"),
  hosts: () => import("./crawl_hosts.js"),
  models: () => import("./crawl_models.js"),
  days: () => import("./crawl_days.js"),
  schedule: () => import("./crawl_schedule.js"),
  log: () => import("./crawl_log.js"),
};
const FORMATS = ["csv", "jsonl", "parquet", "cdxj", "wacz", "warc"];

export default async function crawl(context) {
  const { params: { id, tab = "now" }, signal } = context;
  const load = TABS[tab];
  if (!load) return (await import("./lost.js")).default(context);
  const [told, module] = await Promise.all([get(ofCrawl(id), { signal }), load()]);
  // Another server calls its crawl by its own name; here it is SERVER~NAME.
  const here = id.includes("~") ? { id, server: id.split("~")[0] } : { id };
  const first = { ...told, ...here };
  if (first.server) await learnServers([first.server]);
  let now = first;
  const hearers = [];
  const state = badge(first.state);
  const alerts = alertList();
  const end = h("p", { class: "small ending" });
  const take = (next) => {
    if (next.state !== now.state) say(t("said.state", { name: nameOf(next), state: t(`state.${next.state}`) }));
    now = { ...now, ...next, ...here };
    state.update(now.state);
    buttons.update(now);
    alerts.update(now.alerts ?? []);
    setText(end, ending(now));
    for (const hear of hearers) hear(now);
  };
  // An answer may come later than the event that made it old, so the crawl is asked for once more.
  const once = paced(700, async () => take(await get(ofCrawl(id), { signal })), signal);
  const buttons = actions(first, (next) => {
    take(next);
    once();
  });
  const view = await module.default({ ...context, id, crawl: first, current: () => now, whenChanged: (hear) => hearers.push(hear) });
  const mine = (next) => next.id === id && take(next);
  on("crawl", mine, signal);
  on("gone", (gone) => {
    if (gone.id !== id) return;
    toast(t("deleted", { name: nameOf(now) }));
    context.go("/", { replace: true });
  }, signal);
  // What happened between the first answer and now was told to nobody here.
  once();
  alerts.update(first.alerts ?? []);
  setText(end, ending(first));
  return [
    h("div", { class: "head" },
      h("div", {},
        h("p", { class: "kicker" }, h("a", { href: "/" }, t("nav.crawls")), first.server ? ` · ${t("overview.on_server", { server: serverName(first.server) })}` : ""),
        h("h1", {}, nameOf(first)),
        h("p", { class: "row" }, state.node, end)),
      h("div", { class: "head-do" }, buttons.node, ways(id))),
    alerts.node,
    tabs(id, tab),
    h("div", { class: "tab", id: `tab-${tab}` }, view),
  ];
}

function tabs(id, tab) {
  return h("nav", { class: "tabs", "aria-label": t("tabs") }, h("ul", {}, Object.keys(TABS).map((name) => {
    const href = name === "now" ? `/crawls/${encodeURIComponent(id)}` : `/crawls/${encodeURIComponent(id)}/${name}`;
    return h("li", {}, h("a", { href, "aria-current": name === tab ? "page" : null }, t(`tab.${name}`)));
  })));
}

/** Report, labelling, comparison, exports. */
function ways(id) {
  const links = FORMATS.map((format) => h("li", {}, h("a", { href: address(ofCrawl(id, "/export"), { format }), download: true }, t(`export.${format}`))));
  const menu = h("details", { class: "menu" }, h("summary", {}, t("export")), h("ul", {}, links));
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  menu.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false;
  });
  return h("div", { class: "row links" },
    h("a", { href: `/crawls/${encodeURIComponent(id)}/label` }, t("label.pages")),
    h("a", { href: address(ofCrawl(id, "/report")), target: "_blank", rel: "noopener" }, t("report")),
    h("a", { href: `/compare?a=${encodeURIComponent(id)}` }, t("nav.compare")),
    menu);
}
