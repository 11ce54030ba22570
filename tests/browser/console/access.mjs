// Who may do what: without a token nothing, with a wrong one nothing, with a reader's no changes, with a steerer's all.

async function logIn(kit, page, token) {
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Log in" }).click();
}

export async function refused(kit) {
  const page = await kit.window({ refusals: true });
  kit.check((await page.request.get(`${kit.locked}/api/v1/crawls`)).status() === 401, "crawls are listed without a token");
  await kit.go(page, `${kit.locked}/settings`);
  await kit.drawn(page, "/login");
  kit.check((await page.locator(".ways a").count()) === 0, "the bar offers ways before the login");
  await logIn(kit, page, "not-the-token");
  await kit.until(page, "the refusal", () => document.querySelector(".wrong-box:not([hidden])")?.textContent.includes("not known"));
  kit.check((await page.getByLabel("Token").inputValue()) === "", "a wrong token stays in the field");
  kit.check((await kit.ask(page, "/session")).role === null, "a wrong token made a session");
  await kit.look(page, "login-refused");
}

export async function steerer(kit) {
  const page = await kit.window({ refusals: true });
  await kit.go(page, `${kit.locked}/settings`);
  await kit.drawn(page, "/login");
  await logIn(kit, page, kit.steer);
  await kit.drawn(page, "/settings"); // where the reader wanted to go
  const kept = await page.evaluate((token) => JSON.stringify({ ...localStorage, ...sessionStorage }).includes(token) || document.cookie !== "", kit.steer);
  kit.check(!kept, "scripts can read the session or the token");
  const cookies = await page.context().cookies();
  kit.check(cookies.length === 1 && cookies[0].httpOnly && cookies[0].sameSite === "Strict", `the cookie: ${JSON.stringify(cookies)}`);
  // The cookie alone changes nothing: the CSRF value must come with it.
  const bare = await page.evaluate(async () => (await fetch("/api/v1/crawls", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ source: "demo", start: false }) })).status);
  kit.check(bare === 403, `without the CSRF value: ${bare}`);
  await page.getByRole("link", { name: "New crawl" }).first().click();
  await kit.drawn(page, "/new");
  await page.getByLabel("Name", { exact: true }).fill("Behind the lock");
  await page.getByLabel("The demo web").check();
  await page.getByLabel("Start at once").uncheck();
  await page.getByRole("button", { name: "Create the crawl" }).click();
  await kit.until(page, "the new crawl", () => document.querySelector("h1")?.textContent === "Behind the lock");
  await page.getByRole("button", { name: "Log out" }).click();
  await kit.drawn(page, "/login");
  kit.check((await page.request.get(`${kit.locked}/api/v1/crawls`)).status() === 401, "the session outlives the log-out");
}

export async function reader(kit) {
  const page = await kit.window({ refusals: true });
  await kit.go(page, `${kit.locked}/`);
  await kit.drawn(page, "/login");
  await logIn(kit, page, kit.read);
  await kit.drawn(page, "/");
  kit.check((await page.getByRole("link", { name: "New crawl" }).count()) === 0, "a reader is offered a new crawl");
  await page.getByRole("link", { name: "Behind the lock" }).click();
  await kit.until(page, "the crawl", () => document.querySelector("h1")?.textContent === "Behind the lock");
  await kit.drawn(page);
  kit.check((await page.locator(".actions button").count()) === 0, "a reader is offered to steer");
  const status = await page.evaluate(async () => {
    const { csrf } = await (await fetch("/api/v1/session")).json();
    const [{ id }] = (await (await fetch("/api/v1/crawls")).json()).items;
    return (await fetch(`/api/v1/crawls/${encodeURIComponent(id)}/start`, { method: "POST", headers: { "X-CSRF-Token": csrf } })).status;
  });
  kit.check(status === 403, `a reader's start: ${status}`);
  await kit.look(page, "reader");
}

/** One console for two servers. */
export async function servers(kit) {
  const page = await kit.window({ refusals: true });
  await kit.go(page, `${kit.open}/servers`);
  await page.getByLabel("Name", { exact: true }).fill("barn");
  await page.getByLabel("Address").fill(kit.locked);
  await page.getByLabel("Token").fill(kit.steer);
  await page.getByRole("button", { name: "Add a server" }).click();
  await kit.until(page, "the server to be reachable", () => document.querySelector('.table .badge[data-state="running"]') !== null);
  await kit.go(page, `${kit.open}/`);
  await page.getByRole("link", { name: "Behind the lock" }).click();
  await kit.until(page, "the crawl of the other server", () => document.querySelector("h1")?.textContent === "Behind the lock");
  await kit.drawn(page);
  await page.getByRole("button", { name: "Go on" }).click();
  await kit.until(page, "the other server's crawl to run", () => document.querySelector('.head .badge[data-state="running"], .head .badge[data-state="finished"]') !== null);
  await kit.look(page, "other-server");
  await kit.go(page, `${kit.open}/servers`);
  await page.getByRole("button", { name: "Remove barn" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await kit.until(page, "the server to leave", () => document.querySelector("tbody tr") === null);
}
