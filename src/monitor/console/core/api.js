// Talks to /api/v1. Promises: every unsafe call carries the CSRF value; an answer that is not 2xx becomes a `Problem` (RFC 9457);
// 401 leads to the login, once. Never: keeps a token; the session is a cookie that scripts cannot read.

import { language } from "./i18n.js";

const BASE = "/api/v1";
const state = { role: null, login_required: false, csrf: "", version: "", language: "en" };
let onLogin = () => {};

/** Something the server would not do, and why. */
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `HTTP ${status}`);
    this.status = status;
    this.title = body.title ?? "";
    /** What is wrong with which field: {field, message}. */
    this.errors = Array.isArray(body.errors) ? body.errors : [];
  }
}

/** Where to go when a login is needed. */
export function whenLoginNeeded(go) {
  onLogin = go;
}

export function session() {
  return state;
}

/** May this visitor change anything? */
export function maySteer() {
  return state.role === "steer";
}

export async function loadSession() {
  return Object.assign(state, await call("GET", "/session", { quiet: true }));
}

export async function logIn(token) {
  return Object.assign(state, await call("POST", "/session", { body: { token }, quiet: true }));
}

export async function logOut() {
  await call("DELETE", "/session");
  await loadSession();
}

/** The path of a crawl, or of something below it. */
export function ofCrawl(id, rest = "") {
  return `/crawls/${encodeURIComponent(id)}${rest}`;
}

/** The address of `path`, for links, downloads and event streams. */
export function address(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const text = new URLSearchParams(given).toString();
  return BASE + path + (text ? `?${text}` : "");
}

export function get(path, { query, signal } = {}) {
  return call("GET", path, { query, signal });
}

/** An unsafe call; `body` travels as JSON. */
export function send(method, path, body, { query, headers } = {}) {
  return call(method, path, { query, body, headers });
}

async function call(method, path, { query, body, headers = {}, signal, quiet = false } = {}) {
  const request = { method, signal, headers: { Accept: "application/json", "Accept-Language": language(), ...headers }, cache: "no-store" };
  if (method !== "GET") request.headers["X-CSRF-Token"] = state.csrf;
  if (body !== undefined) {
    request.headers["Content-Type"] = "application/json";
    request.body = JSON.stringify(body);
  }
  const answer = await fetch(address(path, query), request);
  const text = await answer.text();
  const isJson = /[/+]json/.test(answer.headers.get("content-type") ?? "");
  const told = isJson && text ? JSON.parse(text) : null;
  if (answer.ok) return told;
  if (answer.status === 401 && !quiet) onLogin();
  throw new Problem(answer.status, told ?? { title: answer.statusText, detail: text.slice(0, 300) });
}

/** A key for a create that may be sent twice. `randomUUID` is missing where the page did not come over TLS. */
export function freshKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
