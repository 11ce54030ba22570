// Labelling: one page at a time, its passages with the topic's words marked; keys y, n, s, u. Every answer is sent at once.

import { fill, h, outside, setText } from "../core/dom.js";
import { t, word } from "../core/i18n.js";
import { fixed, number } from "../core/format.js";
import { address, get, maySteer, ofCrawl, send } from "../core/api.js";
import { attempt, say } from "../parts/toast.js";
import { whyHref } from "../parts/pagelist.js";

const BATCH = 10;

export default async function label({ params: { id }, signal }) {
  const [crawl, first] = await Promise.all([get(ofCrawl(id), { signal }), ask(id, signal)]);
  const base = `/crawls/${encodeURIComponent(id)}`;
  const head = [h("p", { class: "kicker" }, h("a", { href: base }, crawl.name || crawl.topic_name)), h("h1", {}, t("label.title", { topic: crawl.topic_name }))];
  if (!maySteer()) return [head, h("p", {}, t("label.read_only"))];

  const given = []; // {page, relevant: true|false|null for skipped}
  let queue = first;
  let busy = false;
  const card = h("article", { class: "question", id: "question", "aria-live": "polite" });
  const progress = h("progress", { max: BATCH, value: 0, "aria-label": t("label.progress") });
  const tally = h("p", { class: "small", id: "tally" });
  const buttons = Object.fromEntries([["y", "yes"], ["n", "no"], ["s", "skip"], ["u", "undo"]].map(([key, name]) => [key,
    h("button", { type: "button", class: name === "yes" ? "primary" : null, "data-key": key, "aria-keyshortcuts": key, on: { click: () => answer(key) } }, t(`label.${name}`), " ", h("kbd", {}, key))]));
  const done = h("div", { class: "done", hidden: true });

  const show = () => {
    const page = queue[0];
    card.hidden = !page;
    done.hidden = Boolean(page);
    for (const key of ["y", "n", "s"]) buttons[key].disabled = !page;
    buttons.u.disabled = given.length === 0;
    if (page) fill(card, ...question(id, page));
    const count = (value) => given.filter(({ relevant }) => relevant === value).length;
    progress.max = given.length + queue.length || 1;
    progress.value = given.length;
    setText(tally, t("label.tally", { at: number(Math.min(given.length + 1, given.length + queue.length)), all: number(given.length + queue.length), yes: number(count(true)), no: number(count(false)), skipped: number(count(null)) }));
    if (!page) fill(done, ...finished());
  };
  const finished = () => [
    h("p", { class: "headline" }, t(given.length ? "label.done" : "label.nothing")),
    h("p", { class: "row" },
      h("button", { type: "button", on: { click: (event) => more(event.currentTarget) } }, t("label.more")),
      h("a", { class: "button", href: `${base}/models` }, t("label.to_models"))),
  ];
  const more = async (button) => {
    const next = await attempt(button, () => ask(id, signal));
    if (!next) return;
    // What was skipped in this sitting is not asked again.
    const skipped = new Set(given.map(({ page }) => page.url));
    queue = next.filter((page) => !skipped.has(page.url));
    show();
    if (queue.length === 0) say(t("label.nothing"));
  };
  const put = (page, relevant) => send("PUT", ofCrawl(id, "/labels"), { url: page.url, relevant });
  const answer = async (key) => {
    if (busy || buttons[key].disabled) return;
    busy = true;
    try {
      if (key === "u") {
        const last = given.at(-1);
        if (last.relevant !== null && !(await attempt(null, () => put(last.page, null)))) return;
        given.pop();
        queue.unshift(last.page);
        say(t("label.taken_back"));
      } else {
        const page = queue[0];
        const relevant = { y: true, n: false, s: null }[key];
        if (relevant !== null && !(await attempt(null, () => put(page, relevant)))) return;
        given.push({ page, relevant });
        queue.shift();
      }
    } finally {
      busy = false;
    }
    show();
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
    const key = event.key.toLowerCase();
    if (!(key in buttons)) return;
    event.preventDefault();
    answer(key);
  }, { signal });
  show();
  return [
    head,
    h("p", { class: "small" }, t("label.help")),
    h("div", { class: "label-progress" }, progress, tally),
    card, done,
    h("div", { class: "row answers", role: "group", "aria-label": t("label.answers") }, Object.values(buttons)),
    h("p", { class: "row small" }, h("a", { href: `${base}/models` }, t("label.to_models")), h("a", { href: address(ofCrawl(id, "/labels.tsv")), download: true }, t("models.labels_file"))),
  ];
}

async function ask(id, signal) {
  return (await get(ofCrawl(id, "/labels/next"), { query: { limit: BATCH }, signal })).items;
}

function question(id, page) {
  return [
    h("h2", {}, outside(page.url, page.title || page.url)),
    h("p", { class: "address" }, page.url),
    h("p", { class: "row small" }, h("span", {}, t("label.crawl_says", { relevance: fixed(page.relevance) })), h("span", { class: "chip flat" }, word("label.why", page.why)), h("a", { href: whyHref(id, page.url) }, t("why"))),
    page.passages.map((passage) => h("p", { class: "passage" }, marked(passage))),
    page.passages.length === 0 ? h("p", { class: "empty" }, t("label.no_passage")) : null,
  ];
}

/** The text with its marks, which count UTF-16 code units as JavaScript does, the end not included. */
function marked({ text, marks }) {
  const pieces = [];
  let at = 0;
  for (const [start, end] of [...marks].sort((a, b) => a[0] - b[0])) {
    if (start < at) continue;
    pieces.push(text.slice(at, start), h("mark", {}, text.slice(start, end)));
    at = end;
  }
  return [...pieces, text.slice(at)];
}
