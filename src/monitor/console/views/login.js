// The login: a token becomes a session; the token itself is not kept.

import { h } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { logIn, session } from "../core/api.js";
import { drawBar } from "../parts/bar.js";
import { clearErrors, errorBox, field, input, showErrors } from "../parts/form.js";

export default async function login({ query, go }) {
  const wish = query.get("next") ?? "/";
  const next = wish.startsWith("/") && !wish.startsWith("//") && !wish.startsWith("/login") ? wish : "/";
  const box = errorBox();
  const token = input("token", { type: "password", autocomplete: "current-password", required: true });
  const submit = h("button", { type: "submit", class: "primary" }, t("login.do"));
  const form = h("form", { class: "login", novalidate: true }, field(t("login.token"), token, { hint: t("login.hint") }), box, h("p", {}, submit));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearErrors(form, box);
    submit.disabled = true;
    try {
      await logIn(token.value);
      drawBar();
      await go(next, { replace: true });
    } catch (error) {
      token.value = "";
      const refused = error.status === 401 || error.status === 403;
      showErrors(form, box, refused ? { status: error.status, message: t("login.refused"), errors: [] } : error);
      token.focus();
    } finally {
      submit.disabled = false;
    }
  });
  return [h("h1", {}, t("login.title")), session().role ? h("p", {}, t("login.already")) : null, form];
}
