// Why a page was judged as it was, or why a link waits where it waits: in words, then the parts as bars, then the way to it.

import { h, outside } from "../core/dom.js";
import { t, word } from "../core/i18n.js";
import { delay, fixed, number, signed, when } from "../core/format.js";
import { get, ofCrawl } from "../core/api.js";
import { lean } from "../chart/small.js";
import { facts, table } from "../parts/table.js";
import { input } from "../parts/form.js";

export default async function why({ params: { id }, query, signal, go }) {
  const url = query.get("url") ?? "";
  const address = input("url", { type: "search", inputmode: "url", value: url, class: "code", "aria-label": t("why.address"), placeholder: "https://" });
  const form = h("form", { class: "row filters", role: "search" }, address, h("button", { type: "submit" }, t("why.ask")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(`/crawls/${encodeURIComponent(id)}/why?url=${encodeURIComponent(address.value.trim())}`);
  });
  const head = [h("p", { class: "kicker" }, h("a", { href: `/crawls/${encodeURIComponent(id)}` }, t("why.back"))), h("h1", {}, t("why.title")), form];
  if (!url) return [head, h("p", {}, t("why.none"))];
  const told = await get(ofCrawl(id, "/why"), { query: { url }, signal });
  const { page, link, host, rules } = told;
  const reasons = page?.reasons;
  return [
    head,
    h("section", { class: "words" },
      h("p", { class: "headline" }, outside(told.url, page?.title || told.url)),
      page?.title ? h("p", { class: "address" }, told.url) : null,
      (told.words ?? [told.fate]).map((line) => h("p", {}, line))),
    reasons ? judgement(page, reasons, told.threshold) : null,
    evidence(page?.evidence?.length ? page : link),
    link ? waiting(link) : null,
    path(told),
    linkers(told),
    h("div", { class: "pair" }, rules ? ruled(rules) : null, host ? hostState(host) : null),
  ];
}

/** The words for and against. */
function judgement(page, reasons, threshold) {
  const parts = [...reasons.for_it, ...reasons.against_it.toReversed()];
  const extent = Math.max(...parts.map(({ part }) => Math.abs(part)), 0);
  return h("section", {},
    h("h2", {}, t("why.judgement")),
    facts([
      [t("why.relevance"), t("why.relevance_value", { relevance: fixed(reasons.relevance), threshold: fixed(threshold) })],
      [t("why.judged_now"), fixed(reasons.judged_now)],
      [t("why.keywords"), page.keywords.length ? h("ul", { class: "chips" }, page.keywords.map((keyword) => h("li", {}, keyword))) : t("none")],
      [t("why.label"), page.label === null || page.label === undefined ? null : t(page.label ? "label.yes" : "label.no")],
      [t("why.copy_of"), page.copy_of ? outside(page.copy_of.url) : null],
    ]),
    table({
      caption: t("why.words"),
      captionShown: true,
      items: parts,
      columns: [
        { head: t("why.word"), first: true, cell: (part) => part.word },
        { head: t("why.count"), num: true, wide: true, cell: (part) => number(part.count, 1) },
        { head: t("why.part"), num: true, cell: (part) => signed(part.part, 3) },
        { head: h("span", { class: "visually-hidden" }, t("col.drawn")), kind: "drawing", cell: (part) => lean(part.part, extent) },
      ],
    }).node,
    rank(reasons.rank));
}

function rank(parts) {
  return h("p", { class: "small" }, t("why.rank", { rank: fixed(parts.rank, 4), links: fixed(parts.from_links, 4), own: fixed(parts.own, 4) }));
}

/** What the link model expected, and from what. */
function evidence(of) {
  if (!of?.evidence?.length) return null;
  const parts = of.evidence.filter(({ part }) => part !== 0);
  const extent = Math.max(...parts.map(({ part }) => Math.abs(part)), 0);
  return h("section", {},
    h("h2", {}, t("why.expected")),
    h("p", {}, t("why.expected_value", { estimate: fixed(of.estimate) })),
    table({
      caption: t("why.evidence"),
      items: parts,
      columns: [
        { head: t("why.evidence"), first: true, cell: (part) => word("evidence", part.name) },
        { head: t("why.value"), num: true, wide: true, cell: (part) => fixed(part.value) },
        { head: t("why.weight"), num: true, wide: true, cell: (part) => signed(part.weight) },
        { head: t("why.log_odds"), num: true, cell: (part) => signed(part.part) },
        { head: h("span", { class: "visually-hidden" }, t("col.drawn")), kind: "drawing", cell: (part) => lean(part.part, extent) },
      ],
    }).node);
}

/** The place of a link in the queue. */
function waiting(link) {
  return h("section", {},
    h("h2", {}, t("why.queue")),
    facts([
      [t("why.place"), t("why.place_of", { place: number(link.place), of: number(link.of) })],
      [t("why.place_on_host"), t("why.place_of", { place: number(link.place_on_host), of: number(link.of_host) })],
      [t("frontier.priority"), fixed(link.priority, 4)],
      [t("why.allowance"), fixed(link.allowance)],
      [t("frontier.tunnel"), number(link.tunnel_depth)],
      [t("why.tries"), link.tries ? number(link.tries) : null],
    ]),
    rank(link.rank));
}

/** From the seed to the page, each step with the link that was taken. */
function path({ path: steps }) {
  if (!steps?.length) return null;
  return h("section", {},
    h("h2", {}, t("why.path")),
    h("ol", { class: "path" }, steps.map((step, i) => h("li", { class: step.relevant ? "relevant" : null },
      i > 0 ? h("span", { class: "small block" }, step.anchor ? t("why.through", { anchor: step.anchor }) : t("why.through_bare")) : h("span", { class: "small block" }, t("frontier.seed")),
      outside(step.url, step.title || step.url),
      h("span", { class: "small" }, " ", t(step.relevant ? "page.relevant" : "page.not_relevant"))))));
}

function linkers({ linked_by: pages, links }) {
  if (!pages?.length) return null;
  const fate = (value) => (typeof value === "string" ? value : Object.keys(value ?? {})[0] ?? "");
  return h("section", {},
    h("h2", {}, t("why.linked_by", { n: links, count: number(links) })),
    table({
      caption: t("why.linked_by", { n: links, count: number(links) }),
      items: pages,
      columns: [
        { head: t("col.page"), first: true, long: true, cell: (one) => outside(one.url) },
        { head: t("why.anchor"), long: true, cell: (one) => one.anchor || "–" },
        { head: t("why.relevance"), num: true, cell: (one) => fixed(one.relevance) },
        { head: t("why.fate"), wide: true, cell: (one) => word("fate", fate(one.fate)) },
      ],
    }).node);
}

function ruled(rules) {
  return h("section", {}, h("h2", {}, t("why.rules")), facts([
    [t("why.scope"), rules.scope ? word("rule", rules.scope) : t("why.admitted")],
    ["robots.txt", rules.robots],
    [t("traps.template"), h("code", {}, rules.template)],
    [t("why.quarantine"), t(rules.quarantined ? "yes" : "no")],
  ]));
}

function hostState(host) {
  return h("section", {}, h("h2", {}, t("why.host", { host: host.name })), facts([
    [t("hosts.requests"), number(host.requests)],
    [t("col.fetched"), number(host.fetched)],
    [t("col.relevant"), number(host.relevant)],
    [t("why.failures"), number(host.failures)],
    [t("hosts.refused"), number(host.throttled)],
    [t("hosts.delay"), delay(host.delay_ms)],
    [t("why.next_ready"), when(host.next_ready)],
  ]));
}
