// Other windrow servers whose crawls are shown and steered here.

import { h } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { number } from "../core/format.js";
import { get, maySteer, send } from "../core/api.js";
import { ask } from "../parts/dialog.js";
import { clearErrors, errorBox, field, input, showErrors } from "../parts/form.js";
import { attempt, toast } from "../parts/toast.js";
import { table } from "../parts/table.js";

export default async function servers({ signal }) {
  const columns = [
    { head: t("servers.name"), first: true, cell: (server) => server.name },
    { head: t("servers.address"), long: true, cell: (server) => h("code", {}, server.address) },
    { head: t("col.state"), cell: (server) => [h("span", { class: "badge", "data-state": server.reachable ? "running" : "failed" }, t(server.reachable ? "servers.reachable" : "servers.unreachable")), server.error ? h("span", { class: "small block" }, server.error) : null] },
    { head: t("nav.crawls"), num: true, wide: true, cell: (server) => number(server.crawls) },
  ];
  if (maySteer()) columns.push({ head: h("span", { class: "visually-hidden" }, t("do.label")), cell: (server) => h("button", { type: "button", class: "quiet", "aria-label": t("servers.remove_of", { name: server.name }), on: { click: (event) => remove(event.currentTarget, server) } }, t("servers.remove")) });
  const view = table({ caption: t("nav.servers"), empty: t("servers.none"), columns });
  const load = async () => view.update((await get("/servers", { signal })).items);
  const remove = async (button, server) => {
    if (!(await ask({ title: t("servers.remove_sure", { name: server.name }), text: t("servers.remove_text"), yes: t("servers.remove"), danger: true }))) return;
    if (await attempt(button, async () => (await send("DELETE", `/servers/${encodeURIComponent(server.id)}`), true))) await load();
  };
  await load();
  return [h("div", { class: "head" }, h("h1", {}, t("nav.servers"))), h("p", { class: "small" }, t("servers.note")), view.node, maySteer() ? adding(load) : null];
}

function adding(load) {
  const box = errorBox();
  const submit = h("button", { type: "submit", class: "primary" }, t("servers.add"));
  const form = h("form", { class: "inline" }, h("h2", {}, t("servers.add")), h("div", { class: "fields three" },
    field(t("servers.name"), input("name", { required: true, maxlength: 60 })),
    field(t("servers.address"), input("address", { required: true, class: "code", inputmode: "url", placeholder: "https://windrow.example.org:8377" }), { hint: t("servers.address_hint") }),
    field(t("login.token"), input("token", { type: "password", autocomplete: "off" }), { hint: t("servers.token_hint") })), box, h("p", {}, submit));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearErrors(form, box);
    submit.disabled = true;
    try {
      await send("POST", "/servers", Object.fromEntries(new FormData(form)));
      form.reset();
      toast(t("servers.added"));
      await load();
    } catch (error) {
      showErrors(form, box, error);
    } finally {
      submit.disabled = false;
    }
  });
  return form;
}
