// A person's day: makes a crawl, is told what is wrong with the form, watches, pauses, resumes, stops; then a second crawl to its
// end, labels, asks why, compares, schedules, deletes.

const badge = (state) => document.querySelector(`.head .badge[data-state="${state}"]`) !== null;

async function create(kit, page, { name, pages, rate }) {
  await page.getByRole("link", { name: "New crawl" }).first().click();
  await kit.drawn(page, "/new");
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("The demo web").check();
  if (pages) await page.getByLabel("Pages at most").fill(String(pages));
  if (rate) {
    await page.getByText("Order, pace, memory").click();
    await page.getByLabel("Pages a second at most").fill(String(rate));
  }
  await page.getByRole("button", { name: "Create the crawl" }).click();
  await kit.until(page, `the page of ${name}`, (name) => location.pathname.startsWith("/crawls/") && document.querySelector("h1")?.textContent === name, name);
  await kit.drawn(page);
  return decodeURIComponent(new URL(page.url()).pathname.split("/")[2]);
}

/** The form says what is wrong, beside the field. */
export async function mistakes(kit) {
  const page = await kit.window({ refusals: true });
  await kit.go(page, `${kit.open}/new`);
  await page.getByLabel("Keywords", { exact: true }).fill("rice, paddy");
  await page.getByRole("button", { name: "Create the crawl" }).click();
  await kit.until(page, "an error in the form", () => document.querySelector('[aria-invalid="true"], .wrong-box:not([hidden])') !== null);
  const wrong = await page.evaluate(() => {
    const field = document.querySelector('[name="topic_fields.seeds"]');
    return { invalid: field.getAttribute("aria-invalid"), message: document.getElementById(`${field.id}-error`).textContent, focus: document.activeElement === field };
  });
  kit.check(wrong.invalid === "true" && wrong.message.length > 3 && wrong.focus, `a missing seed is not told at its field: ${JSON.stringify(wrong)}`);
  kit.check(new URL(page.url()).pathname === "/new", "the form was left although it was wrong");
  await kit.look(page, "new-wrong");
  // What only the server can know comes back to its field, too, also where that is folded away.
  await page.getByLabel("The demo web").check();
  await page.getByText("Order, pace, memory").click();
  await page.getByLabel("Memory ceiling").fill("plenty");
  await page.getByText("Order, pace, memory").click();
  await page.getByLabel("Seeds", { exact: true }).fill("http://nongye.example/");
  await page.getByRole("button", { name: "Create the crawl" }).click();
  await kit.until(page, "the server's error", () => document.activeElement.name === "memory" && document.activeElement.getAttribute("aria-invalid") === "true");
  kit.check(await page.getByLabel("Memory ceiling").isVisible(), "a field with an error stays folded away");
}

/** A slow crawl of the demo web: its chart moves; it can be paused, resumed, stopped. */
export async function steering(kit) {
  const page = await kit.window();
  await kit.go(page, `${kit.open}/`);
  await kit.shot(page, "overview-first");
  const id = await create(kit, page, { name: "Slow demo", rate: 10 });
  kit.crawls.slow = id;
  const path = () => document.querySelector(".line.recent")?.getAttribute("d") ?? "";
  await kit.until(page, "the harvest curve", () => (document.querySelector(".line.recent")?.getAttribute("d") ?? "").includes("L"));
  const before = await page.evaluate(path);
  await kit.until(page, "the curve to move", (before) => ![before, ""].includes(document.querySelector(".line.recent").getAttribute("d")), before);
  await kit.until(page, "a page in the list", () => document.querySelector(".pages .page") !== null);

  await page.getByRole("button", { name: "Pause" }).click();
  await kit.until(page, "the pause", badge, "paused");
  const paused = await kit.ask(page, `/crawls/${id}`);
  kit.check(paused.state === "paused" && paused.fetched > 0, `paused: ${paused.state}, ${paused.fetched} pages`);
  await kit.look(page, "crawl-paused");
  await page.getByRole("link", { name: "Frontier" }).click();
  await kit.drawn(page, `/crawls/${encodeURIComponent(id)}/frontier`);
  const link = (row) => page.locator("tbody tr").nth(row).locator("th a").getAttribute("href");
  const wanted = await link(3);
  await page.getByRole("button", { name: `Boost ${wanted}`, exact: true }).click();
  await kit.until(page, "the boosted link at the front", (url) => document.querySelector("tbody tr th a").getAttribute("href") === url, wanted);
  const unwanted = await link(1);
  await page.getByRole("button", { name: `Exclude ${unwanted}`, exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Exclude" }).click();
  await kit.until(page, "the excluded link to leave", (url) => ![...document.querySelectorAll("tbody tr th a")].some((link) => link.getAttribute("href") === url), unwanted);
  await page.getByRole("link", { name: "Now" }).click();
  await kit.drawn(page, `/crawls/${encodeURIComponent(id)}`);
  await page.getByRole("button", { name: "Resume" }).click();
  await kit.until(page, "the crawl to run again", badge, "running");
  await kit.until(page, "more pages than before the pause", (fetched) => Number(document.querySelector(".tiles dd").textContent.replace(/\D/g, "")) > fetched, paused.fetched);

  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  kit.check((await kit.ask(page, `/crawls/${id}`)).state === "running", "it stopped although the question was answered with no");
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
  await kit.until(page, "the crawl to stop", badge, "stopped");
}

/** A crawl to its end. */
export async function finishing(kit) {
  const page = await kit.window();
  await kit.go(page, `${kit.open}/`);
  const id = await create(kit, page, { name: "Demo, 800 pages", pages: 800 });
  kit.crawls.done = id;
  await kit.until(page, "the crawl to finish", badge, "finished");
  // The last figures come with the last event, and are asked for once more when it is quiet.
  await kit.until(page, "800 pages in the tile", () => document.querySelector(".tiles dd").textContent === "800");
  await kit.until(page, "a chart that ends at the last page", () => document.querySelector(".plot").getAttribute("aria-valuetext").includes("page 800"));
  // After 500 pages some links are taken at random.
  await kit.until(page, "the control's line", () => document.querySelector(".line.control").getAttribute("d").includes("L"));
  kit.check(await page.getByRole("button", { name: "Delete" }).isVisible(), "a finished crawl cannot be deleted");
  for (const format of ["csv", "jsonl"]) {
    const answer = await page.request.get(`${kit.open}/api/v1/crawls/${id}/export?format=${format}`);
    kit.check(answer.ok() && (await answer.body()).length > 1000, `export ${format}: ${answer.status()}`);
  }
  const report = await page.request.get(`${kit.open}/api/v1/crawls/${id}/report`);
  kit.check(report.ok() && (await report.text()).includes("<html"), `report: ${report.status()}`);
  await kit.go(page, `${kit.open}/`);
  await kit.until(page, "the finished crawl in the list", (id) => document.querySelector(`tr[data-crawl="${id}"] .badge[data-state="finished"]`) !== null, id);
  await page.getByRole("searchbox").fill("nothing is called so");
  kit.check((await page.locator("tbody tr:visible").count()) === 0, "the filter hides nothing");
  await page.getByRole("searchbox").fill("800 pages");
  kit.check((await page.locator("tbody tr:visible").count()) === 1, "the filter does not find a crawl by its name");
}

/** Three labels by keys, one taken back. */
export async function labelling(kit) {
  const page = await kit.window();
  const id = kit.crawls.done;
  await kit.go(page, `${kit.open}/crawls/${id}/label`);
  const asked = [];
  const labels = async () => (await page.request.get(`${kit.open}/api/v1/crawls/${id}/labels.tsv`)).text();
  const answer = async (key, count) => {
    const url = await page.locator("#question .address").textContent();
    await page.keyboard.press(key);
    await kit.until(page, `the page after ${key}`, (url) => document.querySelector("#question .address").textContent !== url, url);
    asked.push(url);
    kit.check((await page.getByRole("progressbar").evaluate((bar) => bar.value)) === count, `progress after ${count} answers`);
  };
  kit.check((await page.locator("#question mark").count()) > 0, "no word of the topic is marked");
  await kit.look(page, "label");
  await answer("y", 1);
  await answer("n", 2);
  await page.locator("#question .address").waitFor();
  const third = await page.locator("#question .address").textContent();
  await page.getByRole("button", { name: "About the topic" }).click();
  await kit.until(page, "the page after a click", (url) => document.querySelector("#question .address").textContent !== url, third);
  asked.push(third);
  let kept = await labels();
  kit.check(asked.every((url) => kept.includes(url)), `three labels on the server: ${kept}`);
  await page.keyboard.press("u");
  await kit.until(page, "the third page again", (url) => document.querySelector("#question .address").textContent === url, third);
  kept = await labels();
  kit.check(!kept.includes(third) && kept.includes(asked[0]), `a label that was taken back is gone: ${kept}`);
  await page.keyboard.press("y");
  await kit.until(page, "three answers", () => document.querySelector("progress").value === 3);
}

/** Why a page was judged so. */
export async function reasons(kit) {
  const page = await kit.window();
  const id = kit.crawls.done;
  await kit.go(page, `${kit.open}/crawls/${id}/pages`);
  await page.getByRole("button", { name: "relevant", exact: true }).click();
  await kit.until(page, "relevant pages only", () => new URLSearchParams(location.search).get("where") === "relevant" && document.querySelectorAll(".page").length > 0 && document.querySelectorAll(".page .score:not(.yes)").length === 0);
  const before = await page.locator(".page").count();
  await page.getByRole("button", { name: "Show more" }).click();
  await kit.until(page, "more pages", (before) => document.querySelectorAll(".page").length > before, before);
  const url = await page.locator(".page").first().getAttribute("data-url");
  await page.locator(".page .why").first().click();
  await kit.drawn(page, `/crawls/${encodeURIComponent(id)}/why`);
  await page.locator(".words").waitFor();
  const told = await page.evaluate(() => ({ words: document.querySelectorAll(".words p").length, bars: document.querySelectorAll(".lean").length, path: document.querySelectorAll(".path li").length, text: document.getElementById("main").textContent }));
  kit.check(told.text.includes(url), "why does not name the page");
  kit.check(told.words >= 2 && told.bars > 3 && told.path >= 1, `why tells little: ${JSON.stringify({ ...told, text: "" })}`);
  await kit.look(page, "why-page");
  await page.goBack();
  await kit.drawn(page, `/crawls/${encodeURIComponent(id)}/pages`);
  const words = await page.getByLabel("Filter").inputValue();
  kit.check(words === "relevant", `the filter is lost on the way back: ${words}`);
}

/** A filter that is wrong is told; a schedule is kept; two crawls are compared; one is deleted. */
export async function keeping(kit) {
  const page = await kit.window({ refusals: true });
  const { slow, done } = kit.crawls;
  await kit.go(page, `${kit.open}/crawls/${done}/pages?where=nosuchfield%20%3D%201`);
  await kit.until(page, "the filter's error", () => document.querySelector(".pager .wrong:not([hidden])")?.textContent.includes("nosuchfield"));

  await kit.go(page, `${kit.open}/crawls/${done}/schedule`);
  await page.getByLabel("Time zone").fill("Asia/Shanghai");
  await page.getByRole("button", { name: "Every night at 3" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await kit.until(page, "the next run", () => document.querySelector(".next").textContent.includes("Next run"));
  const { schedule } = await kit.ask(page, `/crawls/${done}`);
  // Three in the morning in Shanghai is 19:00 in UTC.
  kit.check(schedule?.cron === "0 3 * * *" && schedule?.next?.includes("T19:00:00"), `the schedule: ${JSON.stringify(schedule)}`);
  await page.getByRole("button", { name: "Remove the schedule" }).click();
  await kit.until(page, "no schedule", () => document.querySelector(".next").textContent.includes("does not run by itself"));

  await kit.go(page, `${kit.open}/compare?a=${slow}&b=${done}`);
  await page.locator("#comparison .line.first").waitFor({ state: "attached" });
  await kit.until(page, "two curves", () => [...document.querySelectorAll("#comparison .line")].every((line) => line.getAttribute("d").includes("L")));
  await kit.look(page, "compare-two");

  await kit.go(page, `${kit.open}/crawls/${slow}`);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await kit.drawn(page, "/");
  await kit.until(page, "the deleted crawl to leave the list", (id) => document.querySelector(`tr[data-crawl="${id}"]`) === null, slow);
  kit.check((await page.request.get(`${kit.open}/api/v1/crawls/${slow}`)).status() === 404, "a deleted crawl is still there");
}
