// The console's texts, English and Chinese: strings/en.json and strings/zh.json hold the same keys (tests/console.rs).
// Promises: the choice is kept in this browser; a key that is not there is an error in the console, not a blank.

import { keep, kept } from "./keep.js";

const NAMES = ["en", "zh"];
const TAGS = { en: "en", zh: "zh-Hans" };
const tables = {};
let now = "en";
let plurals = new Intl.PluralRules("en");

/** Takes the kept language, else the browser's, else `fallback`. */
export async function begin(fallback) {
  const wished = [kept("language"), ...navigator.languages.map((tag) => tag.slice(0, 2)), fallback];
  await use(wished.find((name) => NAMES.includes(name)) ?? "en");
}

/** Changes the language and keeps the choice. */
export async function choose(name) {
  keep("language", name);
  await use(name);
}

async function use(name) {
  if (!tables[name]) {
    const answer = await fetch(`/strings/${name}.json`);
    if (!answer.ok) throw new Error(`/strings/${name}.json: ${answer.status}`);
    tables[name] = await answer.json();
  }
  now = name;
  plurals = new Intl.PluralRules(TAGS[name]);
  document.documentElement.lang = TAGS[name];
}

/** "en" or "zh". */
export function language() {
  return now;
}

/** The tag that Intl takes. */
export function tag() {
  return TAGS[now];
}

export function has(key) {
  return key in tables[now];
}

/**
 * The text of `key`, its `{name}`s filled from `values`. A text of several forms ({one, other}) is chosen by `values.n`;
 * numbers should come formatted, `n` bare beside them.
 */
export function t(key, values = {}) {
  let text = tables[now]?.[key];
  if (text === undefined) {
    console.error(`no text for ${key} in ${now}`);
    return key;
  }
  if (typeof text === "object") text = text[plurals.select(values.n ?? 2)] ?? text.other;
  return text.replace(/\{(\w+)\}/g, (place, name) => (name in values ? String(values[name]) : place));
}

/** The text of `stem.name` if there is one, else the name as it came: for words of the server that may grow. */
export function word(stem, name) {
  return has(`${stem}.${name}`) ? t(`${stem}.${name}`) : String(name ?? "");
}
