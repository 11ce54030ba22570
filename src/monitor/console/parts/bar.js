// The bar at the top: name, ways, connection, language, theme, logging out.

import { fill, h, setText } from "../core/dom.js";
import { choose, language, t } from "../core/i18n.js";
import { keep, kept } from "../core/keep.js";
import { connection, on } from "../core/live.js";
import { logOut, session } from "../core/api.js";
import { go, refresh } from "../core/router.js";
import { say } from "./toast.js";

const WAYS = [["/", "nav.crawls"], ["/new", "nav.new"], ["/compare", "nav.compare"], ["/servers", "nav.servers"], ["/settings", "nav.settings"]];
const THEMES = ["auto", "light", "dark"];

/** Draws the bar in the present language. */
export function drawBar() {
  const skip = document.getElementById("skip");
  setText(skip, t("skip"));
  const { role, login_required } = session();
  const ways = WAYS.filter(([way]) => way !== "/new" || role === "steer");
  const mayLook = role || !login_required;
  fill(document.getElementById("bar"),
    h("a", { class: "brand", href: "/" }, "windrow"),
    h("nav", { class: "ways", "aria-label": t("nav.label") },
      mayLook ? h("ul", {}, ways.map(([way, key]) => h("li", {}, h("a", { href: way }, t(key))))) : null),
    h("div", { class: "tools" },
      mayLook ? h("span", { class: "connection", id: "connection" }) : null,
      role === "read" ? h("span", { class: "role" }, t("role.read")) : null,
      languageButton(),
      themeButton(),
      login_required && role ? h("button", { type: "button", class: "quiet", id: "log-out", on: { click: leave } }, t("log_out")) : null));
  showConnection(connection());
  markPlace(location.pathname);
}

/** Marks the way that leads here. */
export function markPlace(path) {
  for (const link of document.querySelectorAll("#bar .ways a")) {
    const way = link.getAttribute("href");
    const here = way === "/" ? path === "/" || path.startsWith("/crawls/") : path === way;
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function languageButton() {
  const [other, name, tag] = language() === "en" ? ["zh", "中文", "zh-Hans"] : ["en", "English", "en"];
  return h("button", { type: "button", class: "quiet", id: "language", lang: tag, on: { click: () => changeLanguage(other) } }, name);
}

/** Changes the language of everything at once. */
export async function changeLanguage(name) {
  await choose(name);
  drawBar();
  await refresh();
  say(document.title);
}

function themeButton() {
  const now = theme();
  const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
  const click = () => {
    setTheme(next);
    document.getElementById("theme").focus();
  };
  return h("button", { type: "button", class: "quiet", id: "theme", on: { click } },
    h("span", { class: "visually-hidden" }, t("theme.label")), " ", t(`theme.${now}`));
}

export function theme() {
  const now = kept("theme");
  return THEMES.includes(now) ? now : "auto";
}

export function setTheme(name) {
  keep("theme", name === "auto" ? null : name);
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  drawBar();
}

async function leave() {
  await logOut();
  drawBar();
  go("/login");
}

function showConnection(state) {
  const place = document.getElementById("connection");
  if (!place) return;
  place.dataset.state = state;
  setText(place, t(`connection.${state}`));
}

on("state", showConnection);
