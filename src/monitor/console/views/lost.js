// An address of which the console knows nothing.

import { h } from "../core/dom.js";
import { t } from "../core/i18n.js";

export default async function lost() {
  return [h("h1", {}, t("lost.title")), h("p", {}, t("lost.text", { path: location.pathname })), h("p", {}, h("a", { class: "button", href: "/" }, t("nav.crawls")))];
}
