// Alerts of crawls: as a list on views, as a line at the edge when one comes.

import { fill, h } from "../core/dom.js";
import { t, word } from "../core/i18n.js";
import { relative } from "../core/format.js";
import { on } from "../core/live.js";
import { toast } from "./toast.js";

/** A list of alerts that hides itself when there is none; `nameOf(id)` adds a link to the crawl. */
export function alertList(nameOf = null) {
  const list = h("ul");
  const node = h("section", { class: "alerts", "aria-label": t("alerts"), hidden: true }, list);
  const update = (alerts) => {
    node.hidden = alerts.length === 0;
    fill(list, alerts.map((alert) => h("li", {},
      h("strong", {}, word("alert", alert.rule)),
      nameOf ? [" · ", h("a", { href: `/crawls/${encodeURIComponent(alert.crawl)}` }, nameOf(alert.crawl))] : null,
      alert.message ? h("span", {}, " · ", alert.message) : null,
      h("span", { class: "small" }, " · ", relative(alert.since)))));
  };
  return { node, update };
}

/** From now on, alerts that come are shown wherever the reader is. */
export function hearAlerts() {
  on("alert", (alert) => toast(t("alert.of", { crawl: alert.crawl, what: alert.message || word("alert", alert.rule) })));
}
