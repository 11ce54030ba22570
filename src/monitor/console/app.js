// Starts the console: session, language, views. Reading order: core/ (how), parts/ and chart/ (what views are made of), views/.

import { loadSession, session, whenLoginNeeded } from "./core/api.js";
import { begin } from "./core/i18n.js";
import { go, route, start, whenShown } from "./core/router.js";
import { drawBar, markPlace } from "./parts/bar.js";
import { want } from "./core/live.js";
import { hearAlerts } from "./parts/alerts.js";

route("/", () => import("./views/overview.js"));
route("/new", () => import("./views/new.js"));
route("/compare", () => import("./views/compare.js"));
route("/servers", () => import("./views/servers.js"));
route("/settings", () => import("./views/settings.js"));
route("/login", () => import("./views/login.js"));
route("/crawls/:id", () => import("./views/crawl.js"));
route("/crawls/:id/why", () => import("./views/why.js"));
route("/crawls/:id/label", () => import("./views/label.js"));
route("/crawls/:id/:tab", () => import("./views/crawl.js"));

const toLogin = () => {
  want(null, false);
  const here = location.pathname + location.search;
  if (location.pathname !== "/login") go(`/login?next=${encodeURIComponent(here)}`, { replace: true });
};

/** One stream: of the crawl that is looked at, else of all; none before the login. */
const listen = (path) => {
  const crawl = /^\/crawls\/([^/]+)/.exec(path);
  want(crawl ? decodeURIComponent(crawl[1]) : null, path !== "/login");
};

whenLoginNeeded(toLogin);
whenShown((path) => {
  markPlace(path);
  listen(path);
});
const told = await loadSession().catch(() => null);
await begin(told?.language);
drawBar();
hearAlerts();
if (told && session().login_required && !session().role && location.pathname !== "/login") {
  history.replaceState(null, "", `/login?next=${encodeURIComponent(location.pathname + location.search)}`);
}
await start();
