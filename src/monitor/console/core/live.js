// What happens on the server, as it happens: one event stream, opened for what the present view wants.
// Promises: a stream that breaks is opened again, at growing intervals; until it is, the crawls are polled, so that views hear
// `crawl` and `tick` either way; crawls of other servers, of which no stream tells, are always polled. A hidden page holds no
// stream. Never: keeps a listener past its signal.

import { address, get, ofCrawl } from "./api.js";

const POLL_MS = 3000;
const RETRY_MS = [1000, 2000, 5000, 15000, 30000];

const hub = new EventTarget();
let wanted = null;
let stream = null;
let tries = 0;
let retry = 0;
let poll = 0;
let state = "connecting";

/** Hears `kind` ("crawl", "page", "alert", "gone", "tick", "state") until `signal` fires; the handler gets the data. */
export function on(kind, handler, signal) {
  hub.addEventListener(kind, (event) => handler(event.detail), { signal });
}

/** "live", "polling" or "connecting". */
export function connection() {
  return state;
}

/** Opens the stream for one crawl, or for all: `page` events come only for one. `null` closes it. */
export function want(crawl, open = true) {
  const next = open ? { crawl } : null;
  if (stream && wanted && next && wanted.crawl === next.crawl) return;
  wanted = next;
  close();
  tries = 0;
  if (wanted && !document.hidden) connect();
}

function connect() {
  close();
  if (wanted.crawl?.includes("~")) {
    become("polling");
    poll = setInterval(ask, POLL_MS);
    ask();
    return;
  }
  const query = wanted.crawl ? { crawl: wanted.crawl } : { types: "crawl,alert,gone" };
  stream = new EventSource(address("/events", query));
  for (const kind of ["crawl", "page", "alert", "gone"]) {
    stream.addEventListener(kind, (event) => tell(kind, JSON.parse(event.data)));
  }
  stream.addEventListener("open", () => {
    tries = 0;
    clearInterval(poll);
    poll = 0;
    become("live");
    tell("tick");
  });
  stream.addEventListener("error", fallBack);
}

function fallBack() {
  // The browser's own retry gives up on some answers, and says nothing of the wait: we take it over.
  stream?.close();
  stream = null;
  if (!wanted || document.hidden) return;
  become("polling");
  if (!poll) poll = setInterval(ask, POLL_MS);
  clearTimeout(retry);
  retry = setTimeout(() => wanted && connect(), RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]);
  tries += 1;
}

async function ask() {
  const asked = wanted;
  if (!asked) return;
  try {
    const answer = await get(asked.crawl ? ofCrawl(asked.crawl) : "/crawls");
    if (asked !== wanted) return;
    // Another server calls its crawl by its own name.
    for (const crawl of asked.crawl ? [{ ...answer, id: asked.crawl }] : answer.items) tell("crawl", crawl);
    if (state === "offline") become("polling");
    tell("tick");
  } catch {
    become("offline");
  }
}

function close() {
  clearTimeout(retry);
  clearInterval(poll);
  poll = 0;
  stream?.close();
  stream = null;
}

function become(next) {
  if (state === next) return;
  state = next;
  tell("state", next);
}

function tell(kind, detail) {
  hub.dispatchEvent(new CustomEvent(kind, { detail }));
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) close();
  else if (wanted) connect();
});
addEventListener("pagehide", close);
