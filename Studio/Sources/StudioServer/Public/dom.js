// Makes elements. Text goes in as text nodes only, so that no value is ever read as markup.

/**
 * Text without control characters, marks of direction and characters without width: each is shown as `\u{202e}`. Ends of
 * lines and tabs stay.
 */
export const harmless = (text) => text.replace(/[\u200b\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]|(?![\n\t])\p{Cc}/gu,
  (character) => `\\u{${character.codePointAt(0).toString(16)}}`);

/** Text that people read; addresses and contents of fields are for programs. */
const isRead = (key) => key === "title" || key.startsWith("aria-");
const shown = (child) => typeof child === "string" ? harmless(child) : child;

const listening = new WeakSet();
const addresses = new WeakMap();

/** Whether an element was made with listeners. */
export const isListening = (element) => listening.has(element);

/** How the address of a link is found, where it depends on the moment; else nothing. */
export const addressOf = (link) => addresses.get(link);

/**
 * An element with attributes and children; nil children are left out, and functions are listeners.
 *
 * The address of a link is a function where it depends on the moment, so that the link can stay when the moment changes.
 */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "href" && typeof value === "function") point(element, value);
    else if (typeof value === "function") {
      element.addEventListener(key, value);
      listening.add(element);
    } else element.setAttribute(key, value === true ? "" : isRead(key) ? harmless(String(value)) : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false).map(shown));
  return element;
}

/** Gives a link an address that depends on the moment. */
export function point(link, address) {
  addresses.set(link, address);
  const text = address();
  if (link.getAttribute("href") !== text) link.setAttribute("href", text);
}

const svgNamespace = "http://www.w3.org/2000/svg";

/** The same for SVG. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(svgNamespace, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children.map(shown));
  return element;
}

const numbers = new Intl.NumberFormat("en");

/** `12,345` */
export const count = (value) => numbers.format(value);

/** `1 row`, `2 rows` */
export const counted = (value, one, many = one + "s") => `${count(value)} ${value === 1 ? one : many}`;

/** `4.0 KiB` */
export function size(bytes) {
  if (bytes < 1024) return counted(bytes, "byte");
  let value = bytes / 1024;
  for (const unit of ["KiB", "MiB", "GiB"]) {
    if (value < 1023.95) return `${value.toFixed(1)} ${unit}`;
    value /= 1024;
  }
  return `${value.toFixed(1)} TiB`;
}

/** A moment as a `time` element, to the second of UTC; the exact one is its title. */
export function time(text) {
  if (!text) return "";
  return el("time", { datetime: text, title: text }, text.replace("T", " ").replace(/\.\d+Z$/, ""));
}

/** A date of the store, without the parts at its end that are zero: `2026-11-21`, `2026-11-21 10:00:00.5`. */
export const date = (text) => el("time", { datetime: text, title: text },
  text.replace(/T00:00:00(\.0+)?Z$/, "").replace("T", " ").replace(/\.(\d*?)0*Z$/, ".$1Z").replace(/\.?Z$/, ""));

/** The same where no head of a table says that it is UTC. */
export const utc = (text) => text ? [time(text), " UTC"] : "";
