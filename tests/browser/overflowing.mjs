// To be run in a page: what is wider than the window and does not scroll by itself, one line each.
export function overflowing() {
  const room = document.documentElement.clientWidth;
  const scrolls = (element) => {
    for (let e = element; e && e !== document.body; e = e.parentElement) {
      if (["auto", "scroll", "hidden"].includes(getComputedStyle(e).overflowX)) return true;
    }
    return false;
  };
  const out = [...document.body.querySelectorAll("*")].filter((e) => {
    const box = e.getBoundingClientRect();
    return box.width > 1 && box.right > room + 1 && !scrolls(e);
  });
  const names = out.slice(0, 3).map((e) => `<${e.tagName.toLowerCase()} class="${e.getAttribute("class") ?? ""}">`);
  return document.documentElement.scrollWidth > room ? [`the page is ${document.documentElement.scrollWidth} px wide`, ...names] : names;
}
