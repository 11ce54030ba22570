// When a crawl runs again by itself.

import { h, setText } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { relative, when } from "../core/format.js";
import { maySteer, ofCrawl, send } from "../core/api.js";
import { clearErrors, errorBox, showErrors } from "../parts/form.js";
import { scheduleFields } from "../parts/schedule.js";
import { toast } from "../parts/toast.js";
import { table } from "../parts/table.js";
import { word } from "../core/i18n.js";
import { number } from "../core/format.js";

export default async function schedule({ id, crawl, current, whenChanged }) {
  const fields = scheduleFields(crawl.schedule ?? null);
  const box = errorBox();
  const next = h("p", { class: "headline next" });
  const tell = (now) => setText(next, !now ? t("schedule.none") : !now.enabled ? t("schedule.off") : now.next ? t("schedule.next", { when: when(now.next), relative: relative(now.next) }) : t("schedule.on"));
  const save = h("button", { type: "submit", class: "primary" }, t("save"));
  const remove = h("button", { type: "button", hidden: !crawl.schedule }, t("schedule.remove"));
  const form = h("form", { class: "stack" }, h("fieldset", { class: "plain", disabled: !maySteer() }, fields.node, box, h("p", { class: "row" }, save, remove)));
  const put = async (value) => {
    clearErrors(form, box);
    try {
      const whole = await send("PUT", ofCrawl(id, "/schedule"), value);
      const kept = whole && "schedule" in whole ? whole.schedule : value;
      tell(kept);
      remove.hidden = !kept;
      toast(t("saved"));
    } catch (error) {
      showErrors(form, box, error);
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    put(fields.value());
  });
  remove.addEventListener("click", () => put(null));
  tell(crawl.schedule);
  const runs = table({
    caption: t("schedule.runs"),
    items: (current().runs ?? []).toReversed(),
    empty: t("schedule.no_runs"),
    columns: [
      { head: t("schedule.run"), first: true, cell: (run) => number(run.run) },
      { head: t("schedule.started"), cell: (run) => when(run.started) },
      { head: t("schedule.finished"), wide: true, cell: (run) => when(run.finished) },
      { head: t("col.fetched"), num: true, cell: (run) => number(run.fetched) },
      { head: t("col.relevant"), num: true, cell: (run) => number(run.relevant) },
      { head: t("schedule.end"), cell: (run) => (run.stop_reason ? word("stop", run.stop_reason) : "–") },
    ],
  });
  whenChanged((now) => runs.update((now.runs ?? []).toReversed()));
  return [next, form, h("section", {}, h("h2", {}, t("schedule.runs")), runs.node)];
}
