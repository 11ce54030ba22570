// All crawls of this server and of those it knows: state, harvest, counts, alerts; narrowed by name and state.

import { fill, h, setText } from "../core/dom.js";
import { has, t } from "../core/i18n.js";
import { bytes, number, percent, rate } from "../core/format.js";
import { get, maySteer } from "../core/api.js";
import { on } from "../core/live.js";
import { note } from "../core/router.js";
import { learnServers, serverName } from "../core/servers.js";
import { spark } from "../chart/small.js";
import { alertList } from "../parts/alerts.js";
import { input, select } from "../parts/form.js";
import { badge, ending, nameOf } from "../parts/state.js";
import { roomFor } from "../parts/table.js";

const OTHERS_MS = 5000;
const STATES = ["queued", "running", "paused", "stopping", "stopped", "finished", "failed"];

export default async function overview({ query, signal }) {
  const { items } = await get("/crawls", { signal });
  const crawls = new Map(items.map((crawl) => [crawl.id, crawl]));
  const rows = new Map();
  const alerts = alertList((id) => (crawls.has(id) ? nameOf(crawls.get(id)) : id));
  const search = input("q", { type: "search", value: query.get("q") ?? "", "aria-label": t("overview.search"), placeholder: t("overview.search") });
  const state = select("state", [["", t("overview.any_state")], ...STATES.map((name) => [name, t(`state.${name}`)])], query.get("state") ?? "", { "aria-label": t("overview.state") });
  const body = h("tbody");
  const heads = [["col.crawl"], ["col.state"], ["col.harvest_line"], ["col.recent", "num"], ["col.fetched", "num wide"], ["col.relevant", "num wide"], ["col.rate", "num wide"], ["col.waiting", "num wide"], ["col.bytes", "num wide"]];
  const grid = h("table", { class: "crawls" }, h("caption", { class: "visually-hidden" }, t("overview.title")),
    h("thead", {}, h("tr", {}, heads.map(([key, kind]) => h("th", { scope: "col", class: kind ?? null }, t(key))))), body);
  const none = h("div", { class: "empty" });
  const totals = h("p", { class: "small", id: "totals" });

  const fits = (crawl) => {
    const wish = search.value.trim().toLowerCase();
    const text = [crawl.name, crawl.topic_name, crawl.id, crawl.server ?? ""].join(" ").toLowerCase();
    return (!state.value || crawl.state === state.value) && text.includes(wish);
  };
  const arrange = () => {
    const shown = [...crawls.values()].filter(fits).sort((a, b) => (a.created < b.created ? 1 : -1));
    const wanted = shown.map((crawl) => rowOf(crawl).node);
    // Rows stay where they are unless the order changed: moving one would take the focus away.
    if (wanted.length !== body.children.length || wanted.some((node, i) => node !== body.children[i])) fill(body, wanted);
    grid.hidden = shown.length === 0;
    none.hidden = shown.length > 0;
    fill(none, crawls.size === 0 ? welcome() : h("p", {}, t("overview.none_fit")));
    alerts.update([...crawls.values()].flatMap((crawl) => crawl.alerts ?? []));
    const running = [...crawls.values()].filter((crawl) => crawl.state === "running");
    const sum = (key) => running.reduce((all, crawl) => all + (crawl[key] || 0), 0);
    setText(totals, crawls.size ? t("overview.totals", { n: crawls.size, crawls: number(crawls.size), running: number(running.length), rate: rate(sum("pages_per_second")) }) : "");
  };
  const rowOf = (crawl) => {
    if (!rows.has(crawl.id)) rows.set(crawl.id, row(crawl));
    const one = rows.get(crawl.id);
    one.update(crawl);
    return one;
  };
  const filter = () => {
    note({ q: search.value, state: state.value });
    arrange();
  };
  search.addEventListener("input", filter);
  state.addEventListener("change", filter);
  on("crawl", (crawl) => {
    const known = crawls.get(crawl.id);
    crawls.set(crawl.id, crawl);
    if (known?.state === crawl.state && fits(crawl) && (known.alerts?.length ?? 0) === (crawl.alerts?.length ?? 0)) rowOf(crawl);
    else arrange();
  }, signal);
  on("gone", ({ id }) => {
    crawls.delete(id);
    arrange();
  }, signal);
  const reload = async () => {
    const fresh = await get("/crawls", { signal }).catch(() => null);
    if (!fresh) return;
    crawls.clear();
    for (const crawl of fresh.items) crawls.set(crawl.id, crawl);
    arrange();
    await nameServers();
  };
  const nameServers = async () => {
    const met = [...crawls.values()].map((crawl) => crawl.server).filter(Boolean);
    if (await learnServers(met)) arrange();
  };
  on("tick", reload, signal);
  // No event tells of the crawls of other servers.
  const others = setInterval(() => [...crawls.values()].some((crawl) => crawl.server) && reload(), OTHERS_MS);
  signal.addEventListener("abort", () => clearInterval(others));
  arrange();
  nameServers();
  return [
    h("div", { class: "head" }, h("h1", {}, t("overview.title")), maySteer() ? h("a", { class: "button primary", href: "/new" }, t("nav.new")) : null),
    alerts.node,
    h("div", { class: "row filters", role: "search" }, search, state, totals),
    roomFor(grid, t("overview.title")),
    none,
  ];
}

function welcome() {
  return [h("p", { class: "headline" }, t("overview.welcome")), maySteer() ? h("p", {}, h("a", { class: "button primary", href: "/new" }, t("overview.first"))) : null];
}

function row(crawl) {
  const state = badge(crawl.state);
  const line = spark();
  const name = h("a", { href: `/crawls/${encodeURIComponent(crawl.id)}` });
  const below = h("span", { class: "small" });
  const end = h("span", { class: "small wide" });
  const cells = Object.fromEntries(["recent", "fetched", "relevant", "rate", "waiting", "bytes"].map((key) => [key, h("td", { class: key === "recent" ? "num" : "num wide" })]));
  const warning = h("span", { class: "warning", hidden: true });
  const node = h("tr", { "data-crawl": crawl.id }, h("th", { scope: "row" }, name, warning, below, end), h("td", {}, state.node), h("td", { class: "drawing" }, line.node), Object.values(cells));
  const update = (now) => {
    setText(name, nameOf(now));
    state.update(now.state);
    line.update(now.spark ?? []);
    const about = [now.server ? t("overview.on_server", { server: serverName(now.server) }) : "", now.topic_name && now.topic_name !== nameOf(now) ? now.topic_name : ""];
    setText(below, about.filter(Boolean).join(" · "));
    setText(end, ending(now));
    const count = now.alerts?.length ?? 0;
    warning.hidden = count === 0;
    setText(warning, count ? now.alerts.map((alert) => (has(`alert.${alert.rule}`) ? t(`alert.${alert.rule}`) : alert.rule)).join(", ") : "");
    setText(cells.recent, now.fetched ? percent(now.recent_harvest, 0) : "–");
    setText(cells.fetched, now.max_pages ? t("of", { count: number(now.fetched), all: number(now.max_pages) }) : number(now.fetched));
    setText(cells.relevant, number(now.relevant));
    setText(cells.rate, now.state === "running" ? rate(now.pages_per_second) : "–");
    setText(cells.waiting, number(now.waiting));
    setText(cells.bytes, bytes(now.bytes));
  };
  return { node, update };
}
