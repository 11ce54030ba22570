// A crawl's state as a badge, and why it stopped.

import { h, setText } from "../core/dom.js";
import { t, word } from "../core/i18n.js";

/** A badge; `update(state)` changes it in place. */
export function badge(state) {
  const node = h("span", { class: "badge" });
  const update = (next) => {
    node.dataset.state = next;
    setText(node, word("state", next));
  };
  update(state);
  return { node, update };
}

/** "Stopped: the page limit is reached", the error of a failed crawl, or nothing. */
export function ending(crawl) {
  if (crawl.error) return crawl.error;
  if (!crawl.stop_reason || ["queued", "running"].includes(crawl.state)) return "";
  return t("stopped", { reason: word("stop", crawl.stop_reason) });
}

export const isOver = (crawl) => ["stopped", "finished", "failed"].includes(crawl.state);

/** Whether its links can be moved about: there must be a crawl to hear of it. */
export const isSteerable = (crawl) => ["running", "paused"].includes(crawl.state);

/** Its name, or the topic's. */
export const nameOf = (crawl) => crawl.name || crawl.topic_name || crawl.id;
