// Which view is shown at which address, on the History API.
// Promises: a view that is left hears it by its signal; only the newest navigation draws; after one, the focus is on the new
// heading; what a view throws is shown with a way to try again.

import { fill, h } from "./dom.js";
import { t } from "./i18n.js";
import { say } from "../parts/toast.js";

const routes = [];
let left = new AbortController();
let shown = "";
let after = () => {};

/** Adds a view: `pattern` such as "/crawls/:id/:tab", `load` gives its module, whose default makes the view. */
export function route(pattern, load) {
  const names = [];
  const source = pattern.replace(/:(\w+)/g, (_, name) => {
    names.push(name);
    return "([^/]+)";
  });
  routes.push({ test: new RegExp(`^${source}/?$`), names, load });
}

/** Called after each view was drawn, with its path. */
export function whenShown(call) {
  after = call;
}

/** Goes to an address of the console. */
export function go(to, { replace = false } = {}) {
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  return show();
}

/** Draws the present address anew, as after a change of language. */
export function refresh() {
  return show({ keepPlace: true });
}

/** Changes the address to hold a choice of the view, without drawing. */
export function note(query) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const text = new URLSearchParams(given).toString();
  history.replaceState(null, "", location.pathname + (text ? `?${text}` : ""));
}

function find(path) {
  for (const { test, names, load } of routes) {
    const match = test.exec(path);
    if (match) return { load, params: Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(match[at + 1])])) };
  }
  return { load: () => import("../views/lost.js"), params: {} };
}

async function show({ keepPlace = false } = {}) {
  left.abort();
  left = new AbortController();
  const { signal } = left;
  const main = document.getElementById("main");
  main.setAttribute("aria-busy", "true");
  const { load, params } = find(location.pathname);
  const context = { params, query: new URLSearchParams(location.search), signal, go, refresh };
  let view;
  try {
    const module = await load();
    if (signal.aborted) return;
    view = await module.default(context);
  } catch (error) {
    if (signal.aborted) return;
    if (error.status === 401) return; // the login is on its way
    view = failed(error);
  }
  if (signal.aborted) return;
  fill(main, view);
  main.setAttribute("aria-busy", "false");
  const heading = main.querySelector("h1");
  main.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  document.title = heading ? `${heading.textContent} · windrow` : "windrow";
  after(location.pathname);
  const samePage = keepPlace || shown === location.pathname.split("/").slice(0, 3).join("/");
  if (!keepPlace) {
    say(document.title);
    // A tab of the same crawl keeps the focus on its link, which is drawn anew.
    const current = samePage ? main.querySelector('.tabs [aria-current="page"]') : null;
    if (current) current.focus({ preventScroll: true });
    else if (shown) {
      heading?.setAttribute("tabindex", "-1");
      heading?.focus({ preventScroll: true });
    }
    if (!current) scrollTo(0, 0);
  }
  shown = location.pathname.split("/").slice(0, 3).join("/");
}

function failed(error) {
  if (!error.status) console.warn(error);
  return h("section", { class: "failed", role: "alert" },
    h("h1", {}, t(error.status === 404 ? "failed.missing" : "failed.title")),
    h("p", {}, error.status ? error.message : t("failed.offline")),
    h("p", { class: "row" },
      h("button", { type: "button", on: { click: () => refresh() } }, t("again")),
      h("a", { class: "button", href: "/" }, t("nav.crawls"))));
}

/** Takes over clicks on links of the console, and the browser's back and forward. */
export function start() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.target || link.hasAttribute("download") || link.origin !== location.origin || link.pathname.startsWith("/api/")) return;
    if (link.getAttribute("href").startsWith("#")) {
      event.preventDefault(); // the address stays: only the focus moves
      document.querySelector(link.getAttribute("href"))?.focus();
      return;
    }
    event.preventDefault();
    if (link.href !== location.href) go(link.pathname + link.search);
  });
  addEventListener("popstate", () => show());
  return show();
}
