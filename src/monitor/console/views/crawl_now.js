// A crawl as it stands: figures, the harvest curve with its random control, rate and queue, what pays, what is held, new pages.

import { fill, h } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { bytes, duration, number, percent, rate, short } from "../core/format.js";
import { get, ofCrawl } from "../core/api.js";
import { on } from "../core/live.js";
import { paced } from "../core/pace.js";
import { lineChart } from "../chart/line.js";
import { liveList, tile } from "../parts/pagelist.js";
import { isOver } from "../parts/state.js";
import { modelHealth, traps, tunnels } from "./crawl_sides.js";

const REFRESH_MS = 1500;
const NEWEST = 12;

export default async function now({ id, crawl, current, whenChanged, signal }) {
  const charts = makeCharts();
  const figures = tiles();
  const paid = tunnels();
  const held = traps(id, current, signal);
  const health = modelHealth(id, signal);
  const newest = liveList(id, NEWEST);
  figures.update(crawl);
  paid.update(crawl.tunnel ?? []);
  whenChanged((next) => figures.update(next));

  const catchUp = async () => {
    const { items } = await get(ofCrawl(id, "/pages"), { query: { sort: "newest", limit: NEWEST }, signal });
    newest.addAll(items);
  };
  let patience = 5;
  const load = async () => {
    const [metrics, whole] = await Promise.all([get(ofCrawl(id, "/metrics"), { query: { points: 200 }, signal }), get(ofCrawl(id), { signal })]);
    charts.update(metrics.points);
    figures.update(whole);
    paid.update(whole.tunnel ?? []);
    if (!isOver(whole)) return;
    // A crawl that has ended sends no more events; its last pages may still be on their way into curve and list.
    await catchUp();
    if ((metrics.points.at(-1)?.pages ?? 0) < whole.fetched && patience-- > 0) later();
  };
  // Counts come with events; the rest is asked for.
  const later = paced(REFRESH_MS, () => Promise.allSettled([load(), held.load(), health.load()]), signal);
  await Promise.all([load(), catchUp().catch(() => {}), held.load(), health.load()]);
  whenChanged(later);
  on("page", newest.add, signal);
  on("tick", () => {
    later();
    catchUp().catch(() => {}); // the next tick asks again
  }, signal);
  return [
    h("section", { "aria-label": t("now.figures") }, figures.node),
    h("section", {}, charts.harvest.node),
    h("section", { class: "pair" }, charts.rate.node, charts.queue.node),
    h("div", { class: "pair sides" },
      h("section", {}, h("h2", {}, t("now.newest")), newest.node),
      h("div", {},
        h("section", {}, h("h2", {}, t("models.health")), health.node),
        h("section", {}, h("h2", {}, t("tunnel.title")), h("p", { class: "small" }, t("tunnel.note")), paid.node),
        h("section", {}, h("h2", {}, t("traps.title")), h("p", { class: "small" }, t("traps.note")), held.node),
        h("section", {}, h("h2", {}, t("now.topic")), topic(crawl)))),
  ];
}

function makeCharts() {
  const x = { head: t("chart.pages"), name: t("chart.pages_axis"), text: (pages) => t("chart.at_page", { page: number(pages) }), tick: short };
  const harvest = lineChart({
    title: t("chart.harvest"),
    note: t("chart.harvest_note"),
    x,
    y: { text: (share) => percent(share, 0), max: 1 },
    lines: [{ id: "recent", label: t("chart.recent"), area: true }, { id: "mean", label: t("chart.mean") }, { id: "control", label: t("chart.control") }],
    height: 280,
  });
  const speed = lineChart({ title: t("chart.rate"), x, y: { text: rate }, lines: [{ id: "rate", label: t("chart.rate_key") }], height: 180 });
  const queue = lineChart({ title: t("chart.queue"), x, y: { text: short, whole: true }, lines: [{ id: "queue", label: t("chart.queue_key") }], height: 180 });
  const update = (points) => {
    const over = (key) => points.map((point) => [point.pages, point[key]]);
    harvest.update({ recent: over("recent_harvest"), mean: over("harvest"), control: over("control_harvest") });
    speed.update({ rate: over("pages_per_second") });
    queue.update({ queue: over("waiting") });
  };
  return { harvest, rate: speed, queue, update };
}

function tiles() {
  const names = ["fetched", "relevant", "harvest", "recent", "control", "rate", "waiting", "hosts", "backoff", "bytes", "time", "memory"];
  const all = Object.fromEntries(names.map((name) => [name, tile(t(`tile.${name}`))]));
  const node = h("dl", { class: "tiles" }, names.map((name) => all[name].node));
  const update = (crawl) => {
    const harvest = crawl.fetched ? crawl.relevant / crawl.fetched : null;
    const { control, memory } = crawl;
    all.fetched.set(number(crawl.fetched), crawl.max_pages ? t("tile.of_limit", { all: number(crawl.max_pages) }) : "");
    all.relevant.set(number(crawl.relevant));
    all.harvest.set(percent(harvest));
    all.recent.set(crawl.fetched ? percent(crawl.recent_harvest) : "–");
    all.control.set(control?.fetched ? percent(control.relevant / control.fetched) : "–", control?.fetched ? t("tile.control_note", { n: control.fetched, pages: number(control.fetched) }) : "");
    all.rate.set(crawl.state === "running" ? rate(crawl.pages_per_second) : "–", t("tile.rate_note"));
    all.waiting.set(number(crawl.waiting));
    all.hosts.set(number(crawl.active_hosts));
    all.backoff.set(number(crawl.hosts_in_backoff));
    all.bytes.set(bytes(crawl.bytes));
    all.time.set(duration(crawl.elapsed_ms));
    all.memory.set(memory?.peak_bytes ? bytes(memory.peak_bytes) : "–", memory?.ceiling_bytes ? t("tile.of_ceiling", { all: bytes(memory.ceiling_bytes) }) : "");
  };
  return { node, update };
}

/** What was asked for. */
function topic(crawl) {
  const source = typeof crawl.source === "object" && crawl.source ? t("source.of_recording", { name: crawl.source.recording }) : t(`source.${crawl.source}`);
  return [
    h("p", { class: "small" }, [crawl.topic_name, source, crawl.model, crawl.order].filter(Boolean).join(" · ")),
    fill(h("ul", { class: "chips" }), (crawl.keywords ?? []).map((keyword) => h("li", {}, keyword))),
    crawl.topic_toml ? h("details", {}, h("summary", {}, t("now.topic_file")), h("pre", { tabindex: "0" }, crawl.topic_toml)) : null,
  ];
}
