// Makes a page into a later state of it: what both have stays where it is, so that the browser lays out only what differs.
import { addressOf, isListening, point } from "./dom.js";

// MARK: Entries

/** The entry of a list that an element is: what it is among its siblings, and what it was made of. */
const entries = new WeakMap();

/**
 * An entry of a list, which is made when it is shown: a page that has one made of equal data keeps that one.
 *
 * Nothing in it has listeners, and of its addresses those that depend on the moment are functions.
 */
export function entry(name, data, make) {
  const place = document.createElement("template");
  entries.set(place, { name: `entry ${name}`, state: JSON.stringify(data), make });
  return place;
}

/** The element with its entries made. */
function made(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return node;
  const own = entries.get(node);
  if (own?.make) {
    const element = made(own.make());
    entries.set(element, { name: own.name, state: own.state });
    return element;
  }
  for (const place of node.querySelectorAll("template")) place.replaceWith(made(place));
  return node;
}

/** What identifies a node among its siblings: its id, the part that it keeps, or the entry of a list; nil for most. */
function nameOf(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return null;
  if (node.id) return `#${node.id}`;
  const kept = node.getAttribute("data-kept");
  return kept === null ? entries.get(node)?.name ?? null : `kept ${kept}`;
}

// MARK: Changes

/** Makes the children of an element like others, which are used up. */
export function patch(parent, children) {
  const wanted = [...children];
  const names = new Set(wanted.map(nameOf));
  const named = new Map();
  for (const child of [...parent.childNodes]) {
    const name = nameOf(child);
    if (name === null) continue;
    if (names.has(name) && !named.has(name)) named.set(name, child);
    else child.remove();
  }
  let place = parent.firstChild;
  for (const child of wanted) {
    const name = nameOf(child);
    const known = name === null ? nextUnnamed(place, (node) => isAlike(node, child)) : named.get(name);
    named.delete(name);
    if (!known) {
      parent.insertBefore(made(child), place);
      continue;
    }
    // What moves loses its focus and its place of scrolling, so it moves only past what has a name and stays.
    if (name === null || nextUnnamed(place, (node) => node.nextSibling === known)) while (place !== known) place = removed(place);
    if (known === place) place = place.nextSibling;
    else parent.insertBefore(known, place);
    update(known, child);
  }
  while (place) place = removed(place);
}

const isAlike = (node, wanted) => node.nodeName === wanted.nodeName
  && (node.nodeType !== Node.ELEMENT_NODE || node.getAttribute("class") === wanted.getAttribute("class"));

/** The first of the next siblings that meets a condition, before any that has a name. */
function nextUnnamed(place, condition) {
  for (let node = place; node && nameOf(node) === null; node = node.nextSibling) if (condition(node)) return node;
  return null;
}

/** Removes a node, and returns the one after it. */
function removed(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

const whole = new Set(["FORM", "INPUT", "TEXTAREA", "SELECT", "BUTTON"]);

/** Fields, and elements whose listeners know the elements beside them: a new one takes the place of the old one. */
const isWhole = (element) => whole.has(element.nodeName) || isListening(element) || element.hasAttribute("data-kept");

function update(node, child) {
  if (node.nodeType !== Node.ELEMENT_NODE) {
    if (node.data !== child.data) node.data = child.data;
    return;
  }
  const own = entries.get(child);
  if (own && entries.get(node)?.state === own.state) {
    for (const link of node.getElementsByTagName("a")) if (addressOf(link)) point(link, addressOf(link));
    return;
  }
  const wanted = own?.make ? made(child) : child;
  if (node.nodeName !== wanted.nodeName) return node.replaceWith(made(wanted));
  if (isWhole(wanted) || isWhole(node)) {
    // What a person has begun stays.
    const isBegun = node.hasAttribute("data-begun") && node.getAttribute("data-kept") === wanted.getAttribute("data-kept");
    if (!isBegun) node.replaceWith(made(wanted));
    return;
  }
  if (own) entries.set(node, { name: own.name, state: own.state });
  for (const name of node.getAttributeNames()) if (!wanted.hasAttribute(name)) node.removeAttribute(name);
  for (const name of wanted.getAttributeNames()) {
    const value = wanted.getAttribute(name);
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
  if (addressOf(wanted)) point(node, addressOf(wanted));
  patch(node, wanted.childNodes);
}
