// The page models of a crawl: versions, retraining from labels with before and after, and the way back.

import { fill, h } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { day, fixed, number, when } from "../core/format.js";
import { address, get, maySteer, ofCrawl, send } from "../core/api.js";
import { ask } from "../parts/dialog.js";
import { check } from "../parts/form.js";
import { attempt, say } from "../parts/toast.js";
import { table } from "../parts/table.js";
import { beforeAfter, modelHealth } from "./crawl_sides.js";

export default async function models({ id, signal }) {
  const health = modelHealth(id, signal);
  const outcome = h("section", { class: "outcome", role: "status" });
  const versions = table({
    caption: t("models.versions"),
    empty: t("models.none"),
    columns: [
      { head: t("models.version"), first: true, cell: (version) => [number(version.version), version.current ? h("span", { class: "badge", "data-state": "finished" }, t("models.current")) : null] },
      { head: t("models.trained"), cell: (version) => (/^\d{4}-\d\d-\d\d$/.test(version.trained) ? day(version.trained) : when(version.trained)) },
      { head: t("models.documents"), num: true, wide: true, cell: (version) => number(version.documents) },
      { head: t("models.auc"), num: true, cell: (version) => fixed(version.auc, 3) },
      { head: t("models.ece"), num: true, cell: (version) => fixed(version.ece, 3) },
    ],
  });
  const load = async () => {
    const told = await get(ofCrawl(id, "/models"), { signal });
    versions.update(told.versions);
    back.hidden = told.versions.length < 2;
    await health.load();
  };
  const retrain = async (event) => {
    const button = event.currentTarget;
    const answer = await ask({ title: t("models.retrain"), text: t("models.retrain_text"), yes: t("models.retrain"), content: [check("force", t("models.force"))] });
    if (!answer) return;
    say(t("models.training"));
    fill(outcome, h("p", { class: "small" }, t("models.training")));
    const told = await attempt(button, () => send("POST", ofCrawl(id, "/retrain"), { force: answer.force }));
    if (!told) return void fill(outcome);
    fill(outcome, h("h2", {}, t(told.installed ? "models.installed" : "models.kept")), told.reason ? h("p", {}, told.reason) : null, beforeAfter(told.before, told.after));
    await load();
  };
  const rollBack = async (event) => {
    const button = event.currentTarget;
    if (!(await ask({ title: t("models.rollback"), text: t("models.rollback_text"), yes: t("models.rollback"), danger: true }))) return;
    const told = await attempt(button, async () => (await send("POST", ofCrawl(id, "/rollback")), true));
    if (!told) return;
    fill(outcome, h("p", {}, t("models.rolled_back")));
    await load();
  };
  const back = h("button", { type: "button", hidden: true, on: { click: rollBack } }, t("models.rollback"));
  await load();
  return [
    h("section", {}, h("h2", {}, t("models.health")), health.node),
    h("section", {}, h("h2", {}, t("models.versions")), versions.node),
    h("p", { class: "row" },
      maySteer() ? [h("button", { type: "button", class: "primary", on: { click: retrain } }, t("models.retrain")), back] : null,
      h("a", { href: `/crawls/${encodeURIComponent(id)}/label` }, t("label.pages")),
      h("a", { href: address(ofCrawl(id, "/labels.tsv")), download: true }, t("models.labels_file"))),
    outcome,
  ];
}
