// Looks at reports in Chromium, as a reader would: offline, at desktop and phone width, in light and dark, printed, without JavaScript.
// usage: node look.mjs TOOLS SHOTS REPORT.html …   Prints what is wrong, one line each; exit code 1 if anything is.
import { createRequire } from "node:module";
import { mkdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { overflowing } from "./overflowing.mjs";

const [tools, shots, ...reports] = process.argv.slice(2).map((path) => resolve(path));
const require = createRequire(join(tools, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const faults = [];
const widths = { desktop: { width: 1280, height: 900 }, phone: { width: 360, height: 740 } };

/** Every heading that can be clicked sorts its table, both ways. */
const unsorted = () => {
  const wrong = [];
  for (const button of document.querySelectorAll("thead button")) {
    const head = button.closest("th");
    const body = head.closest("table").tBodies[0];
    const values = () => [...body.rows].map((row) => Number(row.cells[head.cellIndex].dataset.value ?? row.cells[head.cellIndex].textContent));
    for (let click = 0; click < 2; click += 1) {
      button.click();
      if (!head.classList.contains("num")) continue;
      const down = head.getAttribute("aria-sort") === "descending";
      const now = values();
      if (now.some((value, at) => at > 0 && (down ? value > now[at - 1] : value < now[at - 1]))) wrong.push(head.textContent);
    }
  }
  return { wrong, buttons: document.querySelectorAll("thead button").length };
};

async function look(browser, report, device, colorScheme) {
  const where = `${basename(report)} ${device} ${colorScheme}`;
  const context = await browser.newContext({ viewport: widths[device], colorScheme, offline: true, deviceScaleFactor: device === "phone" ? 2 : 1 });
  const page = await context.newPage();
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && faults.push(`${where}: console: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`${where}: ${error}`));
  page.on("request", (request) => request.url() !== pathToFileURL(report).href && faults.push(`${where}: asks for ${request.url()}`));
  await page.goto(pathToFileURL(report).href);
  for (const name of await page.evaluate(overflowing)) faults.push(`${where}: overflows: ${name}`);
  await page.screenshot({ path: join(shots, `${where.replaceAll(" ", "-")}.png`), fullPage: true });
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  for (const violation of found.violations) {
    const node = violation.nodes[0];
    faults.push(`${where}: axe ${violation.id} (${violation.nodes.length}): ${node.html.slice(0, 120)} ${node.failureSummary?.split("\n")[1] ?? ""}`);
  }
  const contrast = found.passes.some((rule) => rule.id === "color-contrast");
  if (!contrast) faults.push(`${where}: axe could not judge any contrast`);
  const { wrong, buttons } = await page.evaluate(unsorted);
  if (buttons === 0) faults.push(`${where}: no table can be sorted`);
  for (const name of wrong) faults.push(`${where}: not sorted by ${name}`);
  if (device === "desktop") {
    await page.emulateMedia({ media: "print" });
    for (const name of await page.evaluate(overflowing)) faults.push(`${where}: printed, overflows: ${name}`);
  }
  await context.close();
}

async function withoutScript(browser, report) {
  const context = await browser.newContext({ javaScriptEnabled: false, offline: true });
  const page = await context.newPage();
  await page.goto(pathToFileURL(report).href);
  const [sections, rows] = [await page.locator("main section h2").count(), await page.locator("main tbody tr").count()];
  if (sections < 10 || rows < 20) faults.push(`${basename(report)}: without JavaScript there are ${sections} sections, ${rows} rows`);
  await context.close();
}

mkdirSync(shots, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
for (const report of reports) {
  for (const device of Object.keys(widths)) for (const scheme of ["light", "dark"]) await look(browser, report, device, scheme);
  await withoutScript(browser, report);
}
await browser.close();
console.log(faults.length ? faults.join("\n") : `${reports.length} reports looked at; screenshots in ${shots}`);
process.exit(faults.length ? 1 : 0);
