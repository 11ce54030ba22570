// What every part of the console's test needs: windows whose console is watched, waiting for conditions, looking for faults.
import { createRequire } from "node:module";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { overflowing } from "../overflowing.mjs";

const DEADLINE_MS = 150_000;
const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

export class Kit {
  faults = [];
  /** Of the crawls that were made, by the name the parts give them. */
  crawls = {};

  static async start(given) {
    const require = createRequire(join(given.tools, "package.json"));
    const { chromium } = require("playwright-core");
    const kit = Object.assign(new Kit(), given);
    kit.axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
    kit.browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
    mkdirSync(given.shots, { recursive: true });
    return kit;
  }

  async part(name, run) {
    this.now = name;
    this.windows = [];
    try {
      await run(this);
    } catch (error) {
      this.fault(String(error.stack ?? error).split("\n").slice(0, 8).join(" | "));
      for (const [at, page] of this.windows.entries()) await page.screenshot({ path: join(this.shots, `FAULT-${name}-${at}.png`), timeout: 10_000 }).catch(() => {});
    }
    for (const page of this.windows) await page.context().close();
  }

  async end() {
    await this.browser.close();
  }

  fault(text) {
    this.faults.push(`${this.now}: ${text}`);
  }

  check(right, text) {
    if (!right) this.fault(text);
  }

  /**
   * A window whose errors are faults. `refusals`: the part makes the server refuse things, which Chromium reports as failed
   * loads; those lines, and no others, are then passed over.
   */
  async window({ device = "desktop", scheme = "light", language = "en", refusals = false } = {}) {
    const phone = device === "phone";
    const context = await this.browser.newContext({ viewport: SIZES[device], colorScheme: scheme, locale: language === "zh" ? "zh-CN" : "en-GB", timezoneId: "Asia/Shanghai", hasTouch: phone, isMobile: phone });
    context.setDefaultTimeout(DEADLINE_MS);
    const page = await context.newPage();
    const open = new URL(this.open).host;
    const locked = new URL(this.locked).host;
    page.on("console", (message) => {
      if (!["error", "warning"].includes(message.type())) return;
      const refused = /^Failed to load resource/.test(message.text());
      if (!(refusals && refused)) this.fault(`console at ${page.url()}: ${message.text()} ${message.location().url ?? ""}`);
    });
    page.on("pageerror", (error) => this.fault(`at ${page.url()}: ${error}`));
    page.on("request", (request) => {
      const { host } = new URL(request.url());
      if (host !== open && host !== locked) this.fault(`asks for ${request.url()}`);
    });
    // CSP violations are console errors, too; this names the directive.
    await page.exposeFunction("violated", (text) => this.fault(`policy: ${text}`));
    await page.addInitScript(() => document.addEventListener("securitypolicyviolation", (event) => globalThis.violated(`${event.violatedDirective} ${event.blockedURI} at ${location.href}`)));
    this.windows.push(page);
    return page;
  }

  /** Opens an address of a server and waits until its view is drawn. */
  async go(page, address) {
    await page.goto(address);
    await this.drawn(page);
  }

  /** Waits until the present view is drawn; with `path`, until it is the one of that address. */
  async drawn(page, path = null) {
    const wait = (path) => document.getElementById("main")?.getAttribute("aria-busy") === "false" && document.querySelector("#bar .brand") !== null && (path === null || location.pathname === path);
    await page.waitForFunction(wait, path);
  }

  /** Waits until `test(argument)`, run in the page, is true. */
  async until(page, what, test, argument) {
    try {
      return await page.waitForFunction(test, argument);
    } catch (error) {
      throw new Error(`waited in vain for: ${what} (${String(error).split("\n")[0]})`);
    }
  }

  /** Asks the server as the console would. */
  async ask(page, path) {
    return page.evaluate(async (path) => (await fetch(`/api/v1${path}`)).json(), path);
  }

  async shot(page, name) {
    await page.screenshot({ path: join(this.shots, `${name}.png`), fullPage: true });
  }

  /** Nothing sticks out of the window; axe, if it is to `judge`, finds nothing serious. */
  async look(page, name, { judge = true } = {}) {
    for (const line of await page.evaluate(overflowing)) this.fault(`${name} overflows: ${line}`);
    if (judge) await this.judge(page, name);
    await this.shot(page, name);
  }

  async judge(page, name) {
    await page.evaluate(this.axe);
    const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    for (const violation of found.violations) {
      if (!["serious", "critical"].includes(violation.impact)) continue;
      const node = violation.nodes[0];
      this.fault(`${name}: axe ${violation.id} (${violation.nodes.length}): ${node.html.slice(0, 140)} ${node.failureSummary?.split("\n")[1] ?? ""}`);
    }
    this.check(found.passes.length > 5, `${name}: axe judged next to nothing`);
  }
}
