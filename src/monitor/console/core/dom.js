// Makes elements. Promises: text becomes text nodes and never markup; a link leads to this server or to http(s) and nowhere
// else; no style attribute is written (the page's policy forbids it). Never: parses HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element. `props`: attributes; `on` maps events to handlers; null, undefined and false leave an attribute out. */
export function h(tag, props = {}, ...children) {
  return make(document.createElement(tag), props, children);
}

/** An SVG element. */
export function s(tag, props = {}, ...children) {
  return make(document.createElementNS(SVG, tag), props, children);
}

function make(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    } else if (name === "value" || name === "checked" || name === "selected" || name === "indeterminate") {
      element[name] = value;
      if (name === "value" && element.localName === "option") element.setAttribute("value", value);
    } else if (name === "href" && !isSafe(String(value))) {
      element.dataset.refused = "address";
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...clean(children));
  return element;
}

function clean(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** Puts `children` in the place of what `element` holds. */
export function fill(element, ...children) {
  element.replaceChildren(...clean(children));
  return element;
}

/** Sets an element's text if it differs, so that nothing is drawn or announced twice. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function isSafe(address) {
  return address.startsWith("#") || (address.startsWith("/") && !address.startsWith("//")) || isWeb(address);
}

/** Whether an address that came from the web may become a link. */
export function isWeb(address) {
  try {
    return ["http:", "https:"].includes(new URL(address).protocol);
  } catch {
    return false;
  }
}

/** A link to a page of the web: opens apart, tells the page nothing of us. Other schemes stay text. */
export function outside(address, text = address, props = {}) {
  if (!isWeb(address)) return h("span", props, text);
  return h("a", { ...props, href: address, target: "_blank", rel: "noopener noreferrer", referrerpolicy: "no-referrer" }, text);
}

let ids = 0;
/** An id that no other element has. */
export function freshId(stem) {
  ids += 1;
  return `${stem}-${ids}`;
}
