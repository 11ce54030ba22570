// The fields of a schedule: a cron expression or an interval, a time zone, what a run does.

import { freshId, h } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { check, choice, field, input } from "./form.js";

const PRESETS = { nightly: "0 3 * * *", weekly: "0 3 * * 1", hourly: "0 * * * *" };

/** Fields that begin with `schedule` (or with good guesses); `value()` gives what the server takes. */
export function scheduleFields(schedule) {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const start = schedule ?? { cron: PRESETS.nightly, time_zone: here, recrawl: "refresh", enabled: true };
  const kind = choice(t("schedule.kind"), freshId("kind"), [["cron", t("schedule.cron")], ["every", t("schedule.every")]], start.every_minutes ? "every" : "cron");
  const cron = input("schedule.cron", { class: "code", value: start.cron ?? PRESETS.nightly });
  const every = input("schedule.every_minutes", { type: "number", min: 1, step: 1, value: start.every_minutes ?? 1440 });
  const zones = h("datalist", { id: freshId("zones") }, (Intl.supportedValuesOf?.("timeZone") ?? []).map((zone) => h("option", { value: zone })));
  const zone = input("schedule.time_zone", { value: start.time_zone ?? here, list: zones.id });
  const recrawl = choice(t("schedule.recrawl"), freshId("recrawl"), [["refresh", t("schedule.refresh"), t("schedule.refresh_hint")], ["continue", t("schedule.continue"), t("schedule.continue_hint")]], start.recrawl ?? "refresh");
  const enabled = check("schedule.enabled", t("schedule.enabled"), start.enabled ?? true);
  const presets = h("p", { class: "row small" }, Object.entries(PRESETS).map(([name, text]) => h("button", { type: "button", class: "chip", on: { click: () => {
    cron.value = text;
  } } }, t(`schedule.${name}`))));
  const chosen = (group) => group.querySelector("input:checked").value;
  const cronField = h("div", { class: "field-box" }, field(t("schedule.cron_field"), cron, { hint: t("schedule.cron_hint") }), presets);
  const everyField = field(t("schedule.every_field"), every);
  const show = () => {
    cronField.hidden = chosen(kind) !== "cron";
    everyField.hidden = chosen(kind) !== "every";
  };
  kind.addEventListener("change", show);
  show();
  const node = h("div", { class: "fields" }, kind, h("div", {}, cronField, everyField), h("div", {}, field(t("schedule.time_zone"), zone, { hint: t("schedule.time_zone_hint") }), zones), recrawl, enabled);
  const value = () => ({
    ...(chosen(kind) === "cron" ? { cron: cron.value.trim() } : { every_minutes: Number(every.value) }),
    time_zone: zone.value.trim(),
    recrawl: chosen(recrawl),
    enabled: enabled.querySelector("input").checked,
  });
  return { node, value };
}
