// Questions in a <dialog>: the browser keeps the focus in it, Escape says no, and the focus returns where it came from.

import { freshId, h } from "../core/dom.js";
import { t } from "../core/i18n.js";

/**
 * Asks, and gives the form's values (an object, possibly empty) or null for no.
 * `content`: elements between title and buttons; named fields among them are the values; checkboxes give true or false.
 */
export function ask({ title, text = "", yes, danger = false, content = [] }) {
  return new Promise((resolve) => {
    const id = freshId("dialog");
    const no = h("button", { type: "button", class: "quiet", on: { click: () => box.close() } }, t("cancel"));
    const form = h("form", { method: "dialog" },
      h("h2", { id }, title),
      text ? h("p", {}, text) : null,
      content,
      h("div", { class: "row end" }, no, h("button", { type: "submit", class: danger ? "danger" : "primary", value: "yes" }, yes)));
    const box = h("dialog", { "aria-labelledby": id }, form);
    let given = null;
    form.addEventListener("submit", () => {
      given = {};
      for (const field of form.querySelectorAll("[name]")) given[field.name] = field.type === "checkbox" ? field.checked : field.value;
    });
    box.addEventListener("close", () => {
      box.remove();
      resolve(given);
    });
    document.body.append(box);
    box.showModal();
    if (danger) no.focus();
  });
}
