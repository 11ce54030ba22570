// Short news: said to screen readers, shown for a while, kept while the pointer or the focus is on it.

import { h } from "../core/dom.js";
import { t } from "../core/i18n.js";

const SHOWN_MS = 8000;

/** Says something to screen readers only. */
export function say(text) {
  document.getElementById("said").textContent = text;
}

/** Shows a line at the edge of the window; `bad` for what went wrong, which stays until it is closed. */
export function toast(text, { bad = false } = {}) {
  const box = h("div", { class: bad ? "toast bad" : "toast", role: bad ? "alert" : "status" },
    h("p", {}, text),
    h("button", { type: "button", class: "quiet", "aria-label": t("close"), on: { click: () => box.remove() } }, "×"));
  document.getElementById("toasts").append(box);
  if (bad) return;
  const fade = () => (box.matches(":hover, :focus-within") ? setTimeout(fade, 1000) : box.remove());
  setTimeout(fade, SHOWN_MS);
}

/** Does something that may be refused, the button disabled meanwhile; tells why if it is. Gives what it gave, or undefined. */
export async function attempt(button, act) {
  if (button) button.disabled = true;
  try {
    return await act();
  } catch (error) {
    if (error.status !== 401) toast(error.status ? error.message : t("failed.offline"), { bad: true });
    if (!error.status) console.warn(error);
    return undefined;
  } finally {
    if (button) button.disabled = false;
  }
}
