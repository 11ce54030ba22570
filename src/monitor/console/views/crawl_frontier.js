// The links that wait, the most wanted first; some can be wanted more, or left out.

import { h, outside } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { fixed, number } from "../core/format.js";
import { get, maySteer, ofCrawl, send } from "../core/api.js";
import { note } from "../core/router.js";
import { ask } from "../parts/dialog.js";
import { clearErrors, errorBox, field, input, select, showErrors } from "../parts/form.js";
import { whyHref } from "../parts/pagelist.js";
import { isSteerable } from "../parts/state.js";
import { table } from "../parts/table.js";
import { attempt, toast } from "../parts/toast.js";

export default async function frontier({ id, query, signal, current, whenChanged }) {
  const steers = () => maySteer() && isSteerable(current());
  const host = input("host", { type: "search", value: query.get("host") ?? "", "aria-label": t("frontier.host"), placeholder: t("frontier.host") });
  const view = table({ caption: t("tab.frontier"), empty: t("frontier.none"), columns: columns() });
  const wrong = h("p", { class: "wrong", role: "alert", hidden: true });
  const load = async () => {
    note({ host: host.value.trim() });
    try {
      const { items } = await get(ofCrawl(id, "/frontier"), { query: { host: host.value.trim(), limit: 100 }, signal });
      wrong.hidden = true;
      view.update(items);
    } catch (error) {
      if (error.name === "AbortError") return;
      wrong.textContent = error.status ? error.message : t("failed.offline");
      wrong.hidden = false;
    }
  };
  const change = async (button, body) => {
    if (body.action === "exclude" && !(await ask({ title: t("frontier.sure_exclude"), text: body.url ?? body.pattern, yes: t("frontier.exclude"), danger: true }))) return null;
    const done = await attempt(button, () => send("POST", ofCrawl(id, "/frontier"), body));
    if (!done) return null;
    toast(t(`frontier.done_${body.action}`, { n: done.changed, count: number(done.changed) }));
    await load();
    return done;
  };
  function columns() {
    const all = [
      { head: t("frontier.link"), first: true, long: true, cell: (link) => [outside(link.url), link.anchor ? h("span", { class: "small block" }, t("frontier.anchor", { anchor: link.anchor })) : null] },
      { head: t("frontier.priority"), num: true, cell: (link) => fixed(link.priority, 4) },
      { head: t("frontier.estimate"), num: true, wide: true, cell: (link) => fixed(link.estimate) },
      { head: t("frontier.tunnel"), num: true, wide: true, cell: (link) => number(link.tunnel_depth) },
      { head: t("frontier.from"), long: true, wide: true, cell: (link) => (link.from_url ? outside(link.from_url) : t("frontier.seed")) },
      { head: h("span", { class: "visually-hidden" }, t("do.label")), cell: (link) => h("div", { class: "row nowrap" },
        h("a", { href: whyHref(id, link.url), "aria-label": t("why.of", { page: link.url }) }, t("why")),
        steers() ? ["boost", "exclude"].map((action) => h("button", { type: "button", class: "quiet", "aria-label": t(`frontier.${action}_of`, { url: link.url }), on: { click: (event) => change(event.currentTarget, { action, url: link.url }) } }, t(`frontier.${action}`))) : null) },
    ];
    return all;
  }
  const form = h("form", { class: "row filters", role: "search" }, host, h("button", { type: "submit" }, t("pages.ask")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    load();
  });
  const many = byPattern(change);
  const resting = h("p", { class: "note" }, t("frontier.resting"));
  let could = null;
  const show = () => {
    if (could === steers()) return;
    const first = could === null;
    could = steers();
    many.hidden = !could;
    resting.hidden = could || !maySteer();
    if (!first) load();
  };
  show();
  whenChanged(show);
  await load();
  return [form, wrong, resting, view.node, many];
}

/** Boosts or excludes all links whose address fits a regular expression. */
function byPattern(change) {
  const pattern = input("pattern", { required: true, class: "code", placeholder: "/archive/\\d{4}/" });
  const action = select("action", [["boost", t("frontier.boost")], ["exclude", t("frontier.exclude")]], "boost");
  const box = errorBox();
  const submit = h("button", { type: "submit" }, t("frontier.apply"));
  const form = h("form", { class: "inline" }, h("h2", {}, t("frontier.by_pattern")), h("div", { class: "fields" },
    field(t("frontier.pattern"), pattern, { hint: t("frontier.pattern_hint") }), field(t("frontier.action"), action)), box, h("p", {}, submit));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearErrors(form, box);
    try {
      new RegExp(pattern.value);
    } catch (error) {
      showErrors(form, box, { status: 400, message: t("frontier.bad_pattern"), errors: [{ field: "pattern", message: error.message }] });
      return;
    }
    if (await change(submit, { action: action.value, pattern: pattern.value })) pattern.value = "";
  });
  return form;
}
