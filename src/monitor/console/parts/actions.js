// What can be done with a crawl: start, pause, resume, stop, delete; the last two are asked for twice.

import { fill, h } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { maySteer, ofCrawl, send } from "../core/api.js";
import { go } from "../core/router.js";
import { ask } from "./dialog.js";
import { attempt, say } from "./toast.js";
import { nameOf } from "./state.js";

const POSSIBLE = {
  queued: ["stop"],
  running: ["pause", "stop"],
  paused: ["resume", "stop"],
  stopping: [],
  stopped: ["start", "delete"],
  finished: ["start", "delete"],
  failed: ["start", "delete"],
};

/** The buttons for a crawl; `update(crawl)` follows its state, `changed(crawl)` hears what the server made of a click. */
export function actions(crawl, changed) {
  const node = h("div", { class: "row actions", role: "group", "aria-label": t("do.label") });
  let now = crawl;
  let shown = null;
  const update = (next) => {
    now = next;
    if (shown === next.state || !maySteer()) return;
    const focus = node.contains(document.activeElement);
    shown = next.state;
    fill(node, (POSSIBLE[next.state] ?? []).map((name) => button(name)));
    if (focus) node.querySelector("button")?.focus();
  };
  const button = (name) => {
    const looks = { start: "primary", resume: "primary", delete: "danger" };
    return h("button", { type: "button", class: looks[name], "data-do": name, on: { click: (event) => perform(name, event.currentTarget) } }, t(`do.${name}`));
  };
  const perform = async (name, button) => {
    if ((name === "stop" || name === "delete") && !(await sure(name, now))) return;
    if (name === "delete") {
      const done = await attempt(button, async () => {
        await send("DELETE", ofCrawl(now.id), undefined, { query: { confirm: now.id } });
        return true;
      });
      if (done) {
        say(t("deleted", { name: nameOf(now) }));
        go("/");
      }
      return;
    }
    const next = await attempt(button, () => send("POST", ofCrawl(now.id, `/${name}`)));
    if (next) changed(next);
  };
  update(crawl);
  return { node, update };
}

function sure(name, crawl) {
  const named = { name: nameOf(crawl) };
  return ask({ title: t(`sure.${name}`, named), text: t(`sure.${name}_text`, named), yes: t(`do.${name}`), danger: true });
}
