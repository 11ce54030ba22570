// Pages as a list: relevance, title, what became of it, why, and a person's word on it.

import { h, outside, setText } from "../core/dom.js";
import { t, word } from "../core/i18n.js";
import { clock, fixed } from "../core/format.js";
import { maySteer, ofCrawl, send } from "../core/api.js";
import { attempt, say } from "./toast.js";

/** One page as a list item; `snippet` shows its passage. */
export function pageItem(crawl, page, { snippet = false } = {}) {
  const judged = page.outcome === "fetched";
  return h("li", { class: "page", "data-url": page.url },
    judged
      ? h("span", { class: page.relevant ? "score yes" : "score", title: t(page.relevant ? "page.relevant" : "page.not_relevant") },
        h("span", { class: "visually-hidden" }, t(page.relevant ? "page.relevant" : "page.not_relevant"), " "), fixed(page.relevance))
      : h("span", { class: "score none" }, word("outcome", page.outcome)),
    h("div", { class: "page-text" },
      h("p", { class: "page-title" }, outside(page.url, page.title || page.url)),
      h("p", { class: "small" }, facts(page).join(" · ")),
      snippet && page.snippet ? h("p", { class: "snippet" }, page.snippet) : null),
    h("div", { class: "row page-do" },
      judged && maySteer() ? labels(crawl, page) : null,
      h("a", { class: "why", href: whyHref(crawl, page.url), "aria-label": t("why.of", { page: page.title || page.url }) }, t("why"))));
}

export function whyHref(crawl, url) {
  return `/crawls/${encodeURIComponent(crawl)}/why?url=${encodeURIComponent(url)}`;
}

function facts(page) {
  return [
    page.host,
    clock(page.fetched),
    page.outcome !== "fetched" && page.status ? t("page.status", { status: page.status }) : "",
    page.tunnel > 0 ? t("page.tunnel", { n: page.tunnel, count: page.tunnel }) : "",
    page.chosen && page.chosen !== "order" ? word("chosen", page.chosen) : "",
  ].filter(Boolean);
}

/** Two buttons that say whether a page is about the topic; pressing the pressed one takes the word back. */
function labels(crawl, page) {
  let now = page.label ?? null;
  const group = h("span", { class: "labels", role: "group", "aria-label": t("label.of", { page: page.title || page.url }) });
  const make = (value, key, sign) => {
    const button = h("button", { type: "button", class: "quiet", "aria-pressed": "false", "aria-label": t(key), title: t(key) }, sign);
    button.addEventListener("click", async () => {
      const next = now === value ? null : value;
      const done = await attempt(button, () => send("PUT", ofCrawl(crawl, "/labels"), { url: page.url, relevant: next }));
      if (!done) return;
      now = next;
      show();
      say(t(next === null ? "label.taken_back" : key));
    });
    return [button, value];
  };
  const buttons = [make(true, "label.yes", "✓"), make(false, "label.no", "✗")];
  const show = () => buttons.forEach(([button, value]) => button.setAttribute("aria-pressed", String(now === value)));
  show();
  group.append(...buttons.map(([button]) => button));
  return group;
}

/** The newest pages, newest first, at most `room`; new ones wait while the reader points at the list. */
export function liveList(crawl, room) {
  const list = h("ol", { class: "pages", reversed: true });
  const none = h("p", { class: "empty" }, t("pages.none_yet"));
  const node = h("div", {}, none, list);
  let waiting = [];
  let newest = -1;
  const flush = () => {
    if (list.matches(":hover, :focus-within")) return;
    for (const page of waiting) list.prepend(pageItem(crawl, page));
    waiting = [];
    while (list.children.length > room) list.lastChild.remove();
    none.hidden = list.children.length > 0;
  };
  const add = (page) => {
    if (page.seq <= newest) return;
    newest = page.seq;
    waiting.push(page);
    if (waiting.length > room) waiting.shift();
    flush();
  };
  list.addEventListener("pointerleave", () => setTimeout(flush, 0));
  list.addEventListener("focusout", () => setTimeout(flush, 0));
  return { node, add, /** Oldest last. */ addAll: (pages) => pages.toReversed().forEach(add) };
}

/** A figure with a name; `set` changes it in place. */
export function tile(name, note = "") {
  const value = h("dd", {}, "–");
  const small = h("dd", { class: "small" }, note);
  return { node: h("div", {}, h("dt", {}, name), value, small), set: (text, below = note) => {
    setText(value, text);
    setText(small, below);
  } };
}
