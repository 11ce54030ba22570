// Every view at desktop and phone width, in light and dark, in both languages: nothing overflows, axe is content. Then the switches.

export async function views(kit) {
  const id = encodeURIComponent(kit.crawls.done);
  const page = await kit.window();
  await kit.go(page, `${kit.open}/`);
  const { items: pages } = await kit.ask(page, `/crawls/${id}/pages?limit=1&sort=relevance`);
  const why = `/crawls/${id}/why?url=${encodeURIComponent(pages[0].url)}`;
  const { items: links } = await kit.ask(page, `/crawls/${id}/frontier?limit=1`);
  const tabs = ["pages", "frontier", "hosts", "models", "days", "schedule", "log"].map((tab) => [`crawl-${tab}`, `/crawls/${id}/${tab}`]);
  const all = [["overview", "/"], ["new", "/new"], ["crawl", `/crawls/${id}`], ...tabs, ["label-next", `/crawls/${id}/label`], ["why", why], ...(links.length ? [["why-waiting", `/crawls/${id}/why?url=${encodeURIComponent(links[0].url)}`]] : []), ["compare", "/compare"], ["servers", "/servers"], ["settings", "/settings"], ["lost", "/nowhere"]];
  for (const [device, scheme, language] of [["desktop", "light", "en"], ["phone", "dark", "zh"], ["desktop", "dark", "zh"], ["phone", "light", "en"]]) {
    const window = await kit.window({ device, scheme, language });
    for (const [name, address] of all) {
      await kit.go(window, kit.open + address);
      const lang = await window.evaluate(() => document.documentElement.lang);
      kit.check(lang === (language === "zh" ? "zh-Hans" : "en"), `${name}: the language is ${lang}`);
      // Contrast is a matter of the theme, room one of width and language.
      await kit.look(window, `${name}-${device}-${scheme}-${language}`, { judge: (scheme === "light") === (device === "desktop") });
      if (device === "desktop" && scheme === "light") {
        await window.emulateMedia({ media: "print" });
        const wide = await window.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
        kit.check(!wide, `${name} is too wide for paper`);
        await window.emulateMedia({ media: "screen" });
      }
    }
    await window.context().close();
    kit.windows = kit.windows.filter((one) => one !== window);
  }
}

/** Language and theme change at once, and are kept. */
export async function switches(kit) {
  const page = await kit.window({ scheme: "light" });
  await kit.go(page, `${kit.open}/settings`);
  await page.getByRole("button", { name: "中文" }).click();
  await kit.until(page, "Chinese", () => document.documentElement.lang === "zh-Hans" && document.querySelector("h1").textContent === "设置");
  await page.reload();
  await kit.until(page, "Chinese after a reload", () => document.querySelector("h1")?.textContent === "设置");
  await page.getByLabel("深色").check();
  const dark = await page.evaluate(() => ({ theme: document.documentElement.dataset.theme, paper: getComputedStyle(document.body).backgroundColor }));
  kit.check(dark.theme === "dark" && dark.paper === "rgb(23, 25, 21)", `dark: ${JSON.stringify(dark)}`);
  await page.reload();
  await kit.drawn(page);
  kit.check((await page.evaluate(() => getComputedStyle(document.body).backgroundColor)) === "rgb(23, 25, 21)", "the theme is lost by a reload");
  await page.getByRole("button", { name: "English" }).click();
  await kit.until(page, "English", () => document.documentElement.lang === "en" && document.querySelector("h1").textContent === "Settings");
}
