// What a person has begun on a page outlives its redraws: typed text, open parts, focus and places of scrolling.
//
// A part with `data-kept`, its name, and `data-begun` stays as it is; it hears of this by the event `kept`.

import { patch } from "./patch.js";

/** Whether a page should not change by itself now: for typed text, an open field or dialog, or a selection. */
export function isInUse(page) {
  if (document.querySelector("dialog[open]") || page.querySelector(".edit[data-begun], [role=listbox]:not([hidden])")) return true;
  for (const field of page.querySelectorAll("input, textarea")) if (field.value !== field.defaultValue) return true;
  const selection = getSelection();
  return !selection.isCollapsed && page.contains(selection.anchorNode);
}

/** Elements by a name that they have again on a page that is drawn anew. */
function keyed(page, selector) {
  const found = new Map();
  const counts = new Map();
  for (const element of page.querySelectorAll(selector)) {
    const name = `${element.tagName} ${element.id || element.getAttribute("href") || element.getAttribute("aria-label") || element.textContent}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    found.set(`${name} ${counts.get(name)}`, element);
  }
  return found;
}

// Fields, by name, that the page has no place for now: a page of the past has none.
const aside = new Map();

/** Another page is shown: what was begun on the last one has ended. */
export const leave = () => aside.clear();

const focusable = "a[href], button, input, textarea, summary, [tabindex]";

/** Makes what a page shows into a later state of it. */
export function redraw(page, children) {
  const focused = page.contains(document.activeElement)
    ? [...keyed(page, focusable)].find(([, element]) => element === document.activeElement) : null;
  const selection = focused && [focused[1].selectionStart, focused[1].selectionEnd];
  const places = [...keyed(page, ".scroll")].map(([name, element]) => [name, element.scrollLeft, element.scrollTop]);
  const open = [...keyed(page, "details")].map(([name, element]) => [name, element.open]);
  const fields = [...page.querySelectorAll("input[id], textarea[id]")].filter((field) => field.value !== field.defaultValue);
  const begun = [...page.querySelectorAll("[data-kept][data-begun]")];
  const [left, top] = [scrollX, scrollY];
  patch(page, children);
  for (const part of [...begun, ...aside.values()]) {
    const { kept } = part.dataset;
    if (page.contains(part)) {
      part.dispatchEvent(new CustomEvent("kept"));
      continue;
    }
    const again = page.querySelector(`[data-kept="${CSS.escape(kept)}"]`);
    aside.delete(kept);
    if (!again) {
      if (part.matches(".edit")) aside.set(kept, part);
      continue;
    }
    again.replaceWith(part);
    part.dispatchEvent(new CustomEvent("kept"));
  }
  for (const field of fields) {
    const again = document.getElementById(field.id);
    // A field that has another text now was filled by what led here.
    if (again?.defaultValue === field.defaultValue) again.value = field.value;
  }
  const details = keyed(page, "details:not([data-kept])");
  for (const [name, isOpen] of open) if (details.has(name)) details.get(name).open = isOpen;
  const scrolling = keyed(page, ".scroll");
  for (const [name, x, y] of places) scrolling.get(name)?.scrollTo(x, y);
  if (left !== scrollX || top !== scrollY) scrollTo(left, top);
  if (!focused) return;
  const again = keyed(page, focusable).get(focused[0]) ?? (page.contains(document.activeElement) ? document.activeElement : page);
  if (again === document.activeElement) return;
  again.focus({ preventScroll: true });
  if (typeof selection[0] === "number") again.setSelectionRange?.(...selection);
}
