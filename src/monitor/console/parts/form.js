// Form fields with label, hint and error, and the errors of a problem (RFC 9457 `errors`) beside the fields they speak of.

import { freshId, h } from "../core/dom.js";
import { t } from "../core/i18n.js";

/**
 * A field. `control`: an input, select or textarea element, whose `name` is the field's path in the request body.
 * An error for that path, or for one below it, is shown here.
 */
export function field(label, control, { hint = "", wide = false } = {}) {
  const id = control.id || freshId("field");
  control.id = id;
  const hintId = `${id}-hint`;
  const errorId = `${id}-error`;
  if (hint) control.setAttribute("aria-describedby", hintId);
  control.dataset.hint = hint ? hintId : "";
  return h("div", { class: wide ? "field wide" : "field" },
    h("label", { for: id }, label),
    control,
    hint ? h("p", { class: "hint", id: hintId }, hint) : null,
    h("p", { class: "wrong", id: errorId, hidden: true }));
}

export function input(name, props = {}) {
  return h("input", { name, type: "text", autocomplete: "off", ...props });
}

export function area(name, props = {}) {
  return h("textarea", { name, rows: 4, spellcheck: "false", ...props });
}

/** `options`: [value, text] pairs. */
export function select(name, options, chosen, props = {}) {
  return h("select", { name, ...props }, options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
}

export function check(name, label, checked = false, props = {}) {
  const id = freshId("check");
  return h("div", { class: "check" }, h("input", { type: "checkbox", name, id, checked, ...props }), h("label", { for: id }, label));
}

/** A group of radio buttons. `options`: [value, text, hint?]. */
export function choice(legend, name, options, chosen) {
  return h("fieldset", { class: "choice" }, h("legend", {}, legend), options.map(([value, text, hint]) => {
    const id = freshId(name);
    return h("div", { class: "check" },
      h("input", { type: "radio", name, id, value, checked: value === chosen }),
      h("label", { for: id }, text, hint ? h("span", { class: "hint" }, hint) : null));
  }));
}

/** A number from a field, or undefined where it is empty. */
export function numberOf(control) {
  return control.value.trim() === "" ? undefined : Number(control.value);
}

/** The lines of a text area; commas part them, too, where `commas` says so. */
export function lines(control, { commas = false } = {}) {
  return control.value.split(commas ? /[\n,，、;；]/ : /\n/).map((line) => line.trim()).filter(Boolean);
}

/** A place for errors that belong to no field. */
export function errorBox() {
  return h("div", { class: "wrong-box", role: "alert", hidden: true });
}

export function clearErrors(form, box) {
  box.hidden = true;
  box.replaceChildren();
  for (const control of form.querySelectorAll("[aria-invalid]")) {
    control.removeAttribute("aria-invalid");
    if (control.dataset.hint) control.setAttribute("aria-describedby", control.dataset.hint);
    else control.removeAttribute("aria-describedby");
    const place = document.getElementById(`${control.id}-error`);
    if (place) place.hidden = true;
  }
}

/** Shows a problem: each error at its field, the rest in `box`; the first wrong field gets the focus. */
export function showErrors(form, box, problem) {
  clearErrors(form, box);
  const rest = [];
  let first = null;
  for (const { field: path, message } of problem.errors ?? []) {
    const control = controlFor(form, path ?? "", message);
    const place = control && document.getElementById(`${control.id}-error`);
    if (!place) {
      rest.push(path ? `${path}: ${message}` : message);
      continue;
    }
    place.textContent = place.hidden ? message : `${place.textContent} ${message}`;
    place.hidden = false;
    control.setAttribute("aria-invalid", "true");
    control.setAttribute("aria-describedby", `${place.id} ${control.dataset.hint}`.trim());
    first ??= control;
  }
  const text = problem.status ? problem.message : t("failed.offline");
  box.append(h("p", {}, text), rest.length ? h("ul", {}, rest.map((line) => h("li", {}, line))) : "");
  box.hidden = false;
  for (let fold = first?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  (first ?? box).focus?.();
  (first ?? box).scrollIntoView({ block: "center" });
}

/**
 * The control whose name is the path, or the path's longest beginning; "seeds" also finds "topic_fields.seeds". Where the path
 * names a group, the member that the message speaks of, else the first.
 */
function controlFor(form, path, message) {
  const names = [...form.querySelectorAll("[name]:not([type=radio])")].filter((control) => control.offsetParent !== null || control.closest("details"));
  const bare = path.replace(/^\/+/, "").replaceAll("/", ".").replace(/\[\d+\]/g, "");
  const parts = bare.split(".");
  while (parts.length) {
    const wish = parts.join(".");
    const found = names.find(({ name }) => name === wish || name.endsWith(`.${wish}`));
    if (found) return found;
    const members = names.filter(({ name }) => name.startsWith(`${wish}.`));
    if (members.length) return members.find(({ name }) => message.includes(name.split(".").at(-1))) ?? members[0];
    parts.pop();
  }
  return null;
}
