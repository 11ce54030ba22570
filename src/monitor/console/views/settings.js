// Settings: of this browser (language, theme), and of the server (alerts, where they are sent).

import { h } from "../core/dom.js";
import { language, t } from "../core/i18n.js";
import { get, maySteer, send, session } from "../core/api.js";
import { changeLanguage, setTheme, theme } from "../parts/bar.js";
import { choice, clearErrors, errorBox, field, input, numberOf, showErrors } from "../parts/form.js";
import { facts } from "../parts/table.js";
import { toast } from "../parts/toast.js";

const RULES = { stalled_minutes: { min: 1, step: 1 }, harvest_fell_ratio: { min: 0, max: 1, step: "any" }, disk_low_mib: { min: 0, step: 1 }, error_rate: { min: 0, max: 1, step: "any" } };

export default async function settings({ signal }) {
  const told = await get("/settings", { signal });
  const languages = choice(t("settings.language"), "language", [["en", "English"], ["zh", "中文"]], language());
  languages.addEventListener("change", ({ target }) => changeLanguage(target.value));
  const themes = choice(t("settings.theme"), "theme", ["auto", "light", "dark"].map((name) => [name, t(`theme.${name}`)]), theme());
  themes.addEventListener("change", ({ target }) => setTheme(target.value));
  return [
    h("div", { class: "head" }, h("h1", {}, t("nav.settings"))),
    h("section", {}, h("h2", {}, t("settings.here")), h("div", { class: "fields" }, languages, themes)),
    h("section", {}, h("h2", {}, t("settings.alerts")), h("p", { class: "small" }, t("settings.alerts_note")), ofServer(told)),
    h("section", {}, h("h2", {}, t("settings.server")), facts([
      [t("settings.version"), session().version],
      [t("settings.role"), t(`role.${session().role ?? "none"}`)],
      [t("settings.watch"), told.watch_folder ? h("code", {}, told.watch_folder) : t("none")],
      [t("settings.recordings"), told.recordings.join(", ") || t("none")],
      [t("settings.models"), told.models.join(", ") || t("none")],
      [t("settings.api"), [h("a", { href: "/api/docs", target: "_blank", rel: "noopener" }, "/api/docs"), " · ", h("a", { href: "/api/openapi.json", target: "_blank", rel: "noopener" }, "openapi.json"), " · ", h("a", { href: "/metrics", target: "_blank", rel: "noopener" }, "/metrics")]],
    ])),
  ];
}

function ofServer(told) {
  const box = errorBox();
  const rules = Object.entries(RULES).map(([name, props]) => field(t(`settings.${name}`), input(`alerts.${name}`, { type: "number", value: told.alerts?.[name] ?? "", ...props }), { hint: t(`settings.${name}_hint`) }));
  const webhook = field(t("settings.webhook"), input("webhook", { type: "url", class: "code", value: told.webhook ?? "", placeholder: "https://" }), { hint: t("settings.webhook_hint"), wide: true });
  const form = h("form", { class: "stack", novalidate: true }, h("fieldset", { class: "plain", disabled: !maySteer() }, h("div", { class: "fields" }, rules, webhook), box, h("p", {}, h("button", { type: "submit", class: "primary" }, t("save")))));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearErrors(form, box);
    const alerts = Object.fromEntries(Object.keys(RULES).map((name) => [name, numberOf(form.elements.namedItem(`alerts.${name}`))]));
    try {
      await send("PUT", "/settings", { webhook: form.elements.namedItem("webhook").value.trim(), alerts });
      toast(t("saved"));
    } catch (error) {
      showErrors(form, box, error);
    }
  });
  return form;
}
