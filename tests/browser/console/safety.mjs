// What the web sends is text: a title with markup stays text, an address with a script is no link. A stream that breaks is
// replaced by polling. Keys reach everything that the pointer does.

const EVIL = '<img src=x onerror="globalThis.pwned = 1"><script>globalThis.pwned = 1</script>';

export async function hostileTitles(kit) {
  const page = await kit.window();
  const item = { seq: 9_000_001, url: "javascript:globalThis.pwned=1", title: EVIL, host: EVIL, status: 200, outcome: "fetched", relevance: 0.9, relevant: true, language: "en", depth: 1, tunnel: 0, chosen: "order", fetched: "2026-11-22T00:00:00Z", label: null, snippet: EVIL };
  const answer = { items: [item, { ...item, seq: 9_000_002, url: "https://example.org/" }], next: null };
  await page.route("**/api/v1/crawls/*/pages*", (route) => route.fulfill({ json: answer }));
  await kit.go(page, `${kit.open}/crawls/${kit.crawls.done}/pages`);
  await page.locator(".page").nth(1).waitFor();
  const seen = await page.evaluate(() => ({
    pwned: globalThis.pwned,
    images: document.querySelectorAll("#main img, #main script").length,
    titles: [...document.querySelectorAll(".page-title")].map((title) => title.textContent),
    links: [...document.querySelectorAll(".page-title a")].map((link) => [link.getAttribute("href"), link.rel]),
    scripts: [...document.querySelectorAll("a[href]")].filter((link) => link.protocol === "javascript:").length,
  }));
  kit.check(seen.pwned === undefined && seen.images === 0 && seen.scripts === 0, `markup of a page is alive: ${JSON.stringify(seen)}`);
  kit.check(seen.titles.every((title) => title === EVIL), `a title is not shown as it is: ${seen.titles}`);
  kit.check(JSON.stringify(seen.links) === '[["https://example.org/","noopener noreferrer"]]', `links: ${JSON.stringify(seen.links)}`);
}

export async function brokenStream(kit) {
  const page = await kit.window({ refusals: true });
  let allow = false;
  await page.route("**/api/v1/events*", (route) => (allow ? route.continue() : route.abort()));
  await kit.go(page, `${kit.open}/`);
  await kit.until(page, "polling", () => document.getElementById("connection").dataset.state === "polling");
  // What another client does is still seen.
  const id = await page.evaluate(async () => {
    const { csrf } = await (await fetch("/api/v1/session")).json();
    const answer = await fetch("/api/v1/crawls", { method: "POST", headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf }, body: JSON.stringify({ name: "Seen by polling", source: "demo", start: false }) });
    return (await answer.json()).id;
  });
  await kit.until(page, "a crawl that another client made", (id) => document.querySelector(`tr[data-crawl="${id}"]`) !== null, id);
  allow = true;
  await kit.until(page, "the stream again", () => document.getElementById("connection").dataset.state === "live");
}

export async function keys(kit) {
  const page = await kit.window();
  await kit.go(page, `${kit.open}/crawls/${kit.crawls.done}`);
  await page.keyboard.press("Tab");
  kit.check(await page.evaluate(() => document.activeElement.id === "skip"), "the first key does not lead to the skip link");
  await page.keyboard.press("Enter");
  kit.check(await page.evaluate(() => document.activeElement.id === "main"), "the skip link does not skip");
  const plot = page.getByRole("slider", { name: "Share of relevant pages" });
  await plot.focus();
  const end = await plot.getAttribute("aria-valuetext");
  await page.keyboard.press("Home");
  const start = await plot.getAttribute("aria-valuetext");
  await page.keyboard.press("ArrowRight");
  const next = await plot.getAttribute("aria-valuetext");
  kit.check(new Set([end, start, next]).size === 3 && /%/.test(start), `keys read off the chart: ${start}; ${next}; ${end}`);
  await page.getByText("The figures as a table").first().click();
  await kit.until(page, "the chart's table", () => document.querySelectorAll(".as-table[open] tbody tr").length > 3);
  // Every key press on Tab lands on something visible, and the focus is never lost.
  const lost = [];
  for (let i = 0; i < 60; i += 1) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const e = document.activeElement;
      if (e === document.body) return "body";
      const box = e.getBoundingClientRect();
      return box.width > 0 && box.height > 0 ? "" : e.outerHTML.slice(0, 80);
    });
    if (at === "body") break; // past the last one
    if (at) lost.push(at);
  }
  kit.check(lost.length === 0, `the focus goes to what cannot be seen: ${lost}`);
}
