// Numbers, shares, sizes and times as the chosen language writes them, all by Intl. What is not there is a dash.

import { t, tag } from "./i18n.js";

export const DASH = "–";

const made = new Map();
function intl(kind, options) {
  const key = `${tag()} ${kind.name} ${JSON.stringify(options)}`;
  if (!made.has(key)) made.set(key, new kind(tag(), options));
  return made.get(key);
}

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/** 12,345; with `digits`, so many places at most. */
export function number(value, digits = 0) {
  return isNumber(value) ? intl(Intl.NumberFormat, { maximumFractionDigits: digits }).format(value) : DASH;
}

/** 0.123 with exactly `digits` places. */
export function fixed(value, digits = 2) {
  return isNumber(value) ? intl(Intl.NumberFormat, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value) : DASH;
}

/** +0.12 or −0.12. */
export function signed(value, digits = 2) {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits, signDisplay: "exceptZero" };
  return isNumber(value) ? intl(Intl.NumberFormat, options).format(value) : DASH;
}

/** 1.2M for axes. */
export function short(value) {
  return isNumber(value) ? intl(Intl.NumberFormat, { notation: "compact", maximumFractionDigits: 1 }).format(value) : DASH;
}

/** A share 0..=1 as 12.3%. */
export function percent(share, digits = 1) {
  return isNumber(share) ? intl(Intl.NumberFormat, { style: "percent", maximumFractionDigits: digits }).format(share) : DASH;
}

/** Pages a second: small rates need places. */
export function rate(value) {
  return number(value, value < 10 ? 1 : 0);
}

const SIZES = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];

/** 3.4 MB. */
export function bytes(value) {
  if (!isNumber(value)) return DASH;
  let at = 0;
  while (value >= 1000 && at < SIZES.length - 1) {
    value /= 1000;
    at += 1;
  }
  const options = { style: "unit", unit: SIZES[at], unitDisplay: "short", maximumFractionDigits: value < 10 && at > 0 ? 1 : 0 };
  return intl(Intl.NumberFormat, options).format(value);
}

/** Milliseconds as the two greatest units: 3 min 20 s. */
export function duration(ms) {
  if (!isNumber(ms)) return DASH;
  if (ms > 0 && ms < 1000) return unit(ms / 1000, "second", 1);
  const seconds = Math.round(ms / 1000);
  const parts = [
    [Math.floor(seconds / 86400), "day"],
    [Math.floor(seconds / 3600) % 24, "hour"],
    [Math.floor(seconds / 60) % 60, "minute"],
    [seconds % 60, "second"],
  ];
  const first = parts.findIndex(([value]) => value > 0);
  if (first < 0) return unit(0, "second");
  const shown = parts.slice(first, first + 2).filter(([value]) => value > 0);
  return shown.map(([value, name]) => unit(value, name)).join(t("gap"));
}

function unit(value, name, digits = 0) {
  return intl(Intl.NumberFormat, { style: "unit", unit: name, unitDisplay: "short", maximumFractionDigits: digits }).format(value);
}

/** A delay in milliseconds: 250 ms, 2 s. */
export function delay(ms) {
  if (!isNumber(ms)) return DASH;
  return ms < 1000 ? unit(ms, "millisecond") : duration(ms);
}

function date(value, options) {
  const at = value ? new Date(value) : null;
  return at && !Number.isNaN(at.getTime()) ? intl(Intl.DateTimeFormat, options).format(at) : DASH;
}

/** Day and time of an RFC 3339 text, in the reader's time zone. */
export function when(value) {
  return date(value, { dateStyle: "medium", timeStyle: "short" });
}

/** With seconds, for logs. */
export function clock(value) {
  return date(value, { month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
}

/** A calendar day "2026-11-22" as it is, in no time zone. */
export function day(value, options = { dateStyle: "medium" }) {
  return date(`${value}T00:00:00Z`, { ...options, timeZone: "UTC" });
}

/** In 5 minutes, 2 hours ago. */
export function relative(value) {
  const at = new Date(value).getTime();
  if (!value || Number.isNaN(at)) return DASH;
  const seconds = (at - Date.now()) / 1000;
  const [size, name] = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]].find(([size]) => Math.abs(seconds) >= size) ?? [1, "second"];
  return intl(Intl.RelativeTimeFormat, { numeric: "auto" }).format(Math.round(seconds / size), name);
}
