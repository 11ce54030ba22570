// A new crawl: what it is about (fields, or a topic file), where it crawls, how far, when again. The draft outlives the view.

import { h } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { freshKey, get, maySteer, send } from "../core/api.js";
import { area, check, choice, clearErrors, errorBox, field, input, lines, numberOf, select, showErrors } from "../parts/form.js";
import { scheduleFields } from "../parts/schedule.js";

const draft = new Map(); // field name → text; kept while the console is open

export default async function create({ signal, go }) {
  if (!maySteer()) return [h("h1", {}, t("nav.new")), h("p", {}, t("role.cannot"))];
  const settings = await get("/settings", { signal });
  const kept = (name, other = "") => draft.get(name) ?? other;
  const text = (name, props) => input(name, { value: kept(name), ...props });
  const box = errorBox();

  const source = choice(t("new.source"), "source", [["web", t("source.web"), t("new.web_hint")], ["demo", t("source.demo"), t("new.demo_hint")], ...(settings.recordings.length ? [["recording", t("source.recording"), t("new.recording_hint")]] : [])], kept("source", "web"));
  const recording = field(t("new.recording"), select("recording", settings.recordings.map((name) => [name, name]), kept("recording")));
  const kind = choice(t("new.topic"), "kind", [["fields", t("new.by_fields")], ["file", t("new.by_file")]], kept("kind", "fields"));
  const keywords = area("topic_fields.keywords", { rows: 5, value: kept("topic_fields.keywords") });
  const seeds = area("topic_fields.seeds", { rows: 4, class: "code", value: kept("topic_fields.seeds") });
  const languages = select("topic_fields.language", [["", t("new.any_language")], ["zh", t("language.zh")], ["en", t("language.en")]], kept("topic_fields.language"));
  const keywordHint = h("p", { class: "note demo-note", hidden: true }, t("new.demo_topic"));
  const byFields = h("div", { class: "fields" }, keywordHint,
    field(t("new.keywords"), keywords, { hint: t("new.keywords_hint"), wide: true }), field(t("new.seeds"), seeds, { hint: t("new.seeds_hint"), wide: true }), field(t("new.language"), languages));
  const toml = area("topic", { rows: 14, class: "code", value: kept("topic"), placeholder: 'name = "rice"\nkeywords = ["rice", "paddy"]\nseeds = ["https://example.org/"]' });
  const upload = h("input", { type: "file", accept: ".toml,application/toml,text/plain", "aria-label": t("new.upload") });
  upload.addEventListener("change", async () => {
    if (!upload.files[0]) return;
    toml.value = await upload.files[0].text();
    draft.set("topic", toml.value);
  });
  const byFile = h("div", { class: "fields" }, field(t("new.topic_file"), toml, { hint: t("new.topic_hint"), wide: true }), h("p", { class: "field wide" }, h("label", {}, t("new.upload"), " ", upload)));

  const number = (name, props = {}) => text(name, { type: "number", min: 1, step: 1, inputmode: "numeric", ...props });
  const limits = [
    field(t("new.max_pages"), number("max_pages"), { hint: t("new.max_pages_hint") }),
    field(t("new.model"), select("model", [["", t("new.no_model")], ...settings.models.map((name) => [name, name])], kept("model"))),
  ];
  const fine = [
    field(t("new.order"), select("order", [["", t("new.default")], ...settings.orders.map((name) => [name, name])], kept("order")), { hint: t("new.order_hint") }),
    field(t("new.delay"), number("delay_ms", { min: 0 }), { hint: t("new.delay_hint") }),
    field(t("new.rate"), number("pages_per_second", { min: 0.1, step: "any" }), { hint: t("new.rate_hint") }),
    field(t("new.workers"), number("workers")),
    field(t("new.memory"), text("memory", { placeholder: "600MiB" }), { hint: t("new.memory_hint") }),
  ];
  const again = scheduleFields(null);
  const schedule = h("details", {}, h("summary", {}, t("tab.schedule")), check("scheduled", t("new.scheduled"), kept("scheduled") === "true"), again.node);
  const start = check("start", t("new.start"), kept("start", "true") === "true");
  const submit = h("button", { type: "submit", class: "primary" }, t("new.create"));
  const form = h("form", { class: "stack", novalidate: true },
    h("div", { class: "fields" }, field(t("new.name"), text("name", { maxlength: 100 }), { hint: t("new.name_hint") })),
    source, recording, kind, byFields, byFile,
    h("div", { class: "fields" }, limits),
    h("details", {}, h("summary", {}, t("new.fine")), h("div", { class: "fields" }, fine)),
    schedule, start, box, h("p", { class: "row" }, submit, h("a", { href: "/" }, t("cancel"))));

  const chosen = (name) => form.querySelector(`input[name="${name}"]:checked`)?.value;
  const show = () => {
    recording.hidden = chosen("source") !== "recording";
    byFields.hidden = chosen("kind") !== "fields";
    byFile.hidden = chosen("kind") !== "file";
    keywordHint.hidden = chosen("source") !== "demo";
  };
  form.addEventListener("input", ({ target }) => {
    if (target.name) draft.set(target.name, target.type === "checkbox" ? String(target.checked) : target.value);
    show();
  });
  show();

  const control = (name) => form.elements.namedItem(name);
  const body = () => {
    const of = chosen("source");
    const named = (name) => control(name).value.trim() || undefined;
    const fields = { keywords: lines(keywords, { commas: true }), seeds: lines(seeds), language: languages.value || undefined };
    const empty = of === "demo" && !fields.keywords.length && !fields.seeds.length;
    const topic = chosen("kind") === "file" ? { topic: toml.value } : empty ? {} : { topic_fields: fields };
    return {
      name: named("name"),
      ...topic,
      source: of === "recording" ? { recording: control("recording").value } : of,
      model: named("model"),
      order: named("order"),
      max_pages: numberOf(control("max_pages")),
      delay_ms: numberOf(control("delay_ms")),
      pages_per_second: numberOf(control("pages_per_second")),
      workers: numberOf(control("workers")),
      memory: named("memory"),
      schedule: control("scheduled").checked ? again.value() : undefined,
      start: control("start").checked,
    };
  };
  /** What can be told without asking the server, in the reader's language. */
  const missing = () => {
    const of = chosen("source");
    const wrong = [];
    if (chosen("kind") === "file" && !toml.value.trim()) wrong.push({ field: "topic", message: t("new.no_topic") });
    if (chosen("kind") === "fields" && !(of === "demo" && !lines(keywords).length && !lines(seeds).length)) {
      if (!lines(keywords, { commas: true }).length) wrong.push({ field: "topic_fields.keywords", message: t("new.no_keywords") });
      if (!lines(seeds).length) wrong.push({ field: "topic_fields.seeds", message: t("new.no_seeds") });
    }
    for (const one of form.querySelectorAll('input[type="number"]')) {
      if (one.name.startsWith("schedule.") ? control("scheduled").checked && !one.validity.valid : !one.validity.valid) wrong.push({ field: one.name, message: one.validationMessage });
    }
    return wrong;
  };
  let key = freshKey();
  let sent = "";
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearErrors(form, box);
    const wrong = missing();
    if (wrong.length) {
      showErrors(form, box, { status: 400, message: t("new.incomplete"), errors: wrong });
      return;
    }
    const wanted = body();
    // A second click sends the same key; other contents need another.
    if (sent !== "" && sent !== JSON.stringify(wanted)) key = freshKey();
    sent = JSON.stringify(wanted);
    submit.disabled = true;
    try {
      const crawl = await send("POST", "/crawls", wanted, { headers: { "Idempotency-Key": key } });
      draft.clear();
      go(`/crawls/${encodeURIComponent(crawl.id)}`);
    } catch (error) {
      showErrors(form, box, error);
    } finally {
      submit.disabled = false;
    }
  });
  return [h("div", { class: "head" }, h("h1", {}, t("nav.new"))), form];
}
