// What several pages are made of.
import { el, count, size } from "./dom.js";
import { here, to, changed } from "./address.js";
import { entry } from "./patch.js";

/** A number on the right of its cell. */
export const number = (amount) => el("span", { class: "number" }, count(amount));

/** A size in bytes, which is not broken into lines. */
export const bytes = (amount) => el("span", { class: "number" }, size(amount));

/**
 * A table that scrolls by itself where it is wider than the window.
 *
 * A row is its element, its cells, or an entry: what it is, the data that it is made of, and how to make the cells.
 *
 * One that is `stacked` has, in a small window, the cells of a row one below the other. Its roles are named, since a browser
 * takes them away from a table that is laid out in another way.
 */
export function table(heads, rows, attributes = {}) {
  const shown = el("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": attributes.label ?? "Table" },
    el("table", { class: attributes.isStacked ? "stacked" : null }, el("thead", {}, el("tr", {}, heads.map((head) =>
      head instanceof Element && head.tagName === "TH" ? head : el("th", { scope: "col" }, head)))),
    el("tbody", {}, rows.map((row) => row instanceof Element ? row : Array.isArray(row) ? line(row)
      : entry(row.entry, row.data, () => attributes.isStacked ? named(line(row.cells())) : line(row.cells()))))));
  if (attributes.isStacked) named(shown);
  else alignHeads(shown.firstElementChild);
  return shown;
}

/** A row of these cells, of which the first is its head. */
const line = (cells) => el("tr", {}, cells.map((cell, index) => el(index ? "td" : "th", index ? {} : { scope: "row" }, cell)));

/** The part of a table with the roles of its elements. */
function named(part) {
  for (const [name, role] of Object.entries(roles)) {
    if (part.matches(name)) part.setAttribute("role", role);
    for (const element of part.querySelectorAll(name)) element.setAttribute("role", role);
  }
  return part;
}

/** The head of a column with numbers is on their side of it. */
function alignHeads(shown) {
  const found = new Set();
  for (const row of shown.tBodies[0].rows) {
    for (const [index, cell] of [...row.cells].entries()) if (cell.firstElementChild?.classList.contains("number")) found.add(index);
  }
  for (const index of found) shown.tHead.rows[0].cells[index]?.classList.add("amount");
}

const roles = { table: "table", thead: "rowgroup", tbody: "rowgroup", tr: "row", td: "cell", "th[scope=col]": "columnheader",
  "th[scope=row]": "rowheader" };

/** Why a page cannot be shown, in place of it, and where to go from there. */
export function problem(error) {
  const isStore = here().store && error.field !== "store";
  const ways = [here().query.get("at") && isStore ? el("a", { href: changed({ at: null }) }, "See it in the newest state") : null,
    !isStore ? el("a", { href: "/" }, "See the stores") : error.field === "at" ? null : el("a", { href: to(["model"]) }, "See the model")];
  return el("div", { class: "problem", role: "alert" }, el("h1", {}, "This cannot be shown"), el("p", {}, error.message),
    el("p", { class: "pager" }, ways));
}

/**
 * A field of a form. If the problem is with its text, the field says so and keeps the text.
 *
 * `beside` makes what belongs to the field, such as names that complete its text.
 */
export function field(name, label, attributes, error, beside = () => null) {
  const isWrong = error?.field === name;
  const input = el("input", { id: name, name, type: "text", autocomplete: "off", ...attributes,
    "aria-invalid": isWrong ? "true" : null, "aria-describedby": isWrong ? "problem" : null });
  return el("div", { class: `field ${name}` }, el("label", { for: name }, label), input, beside(input),
    isWrong ? mistake(error, input) : null);
}

/** The message, with the text and a caret below the wrong character. */
function mistake(error, input) {
  const characters = [...new Intl.Segmenter().segment(input.value)].map((part) => part.segment);
  if (error.column) {
    const place = characters.slice(0, error.column - 1).join("").length;
    queueMicrotask(() => { input.focus(); input.setSelectionRange(place, place); });
  }
  return el("div", { class: "problem", id: "problem", role: "alert" },
    error.column ? el("pre", { "aria-hidden": "true" }, `${input.value}\n${" ".repeat(error.column - 1)}▲`) : null,
    error.column ? `Character ${error.column}: ` : null, error.message,
    error.expected && !error.message.includes(error.expected) ? ` Expected: ${error.expected}.` : null,
    error.suggestion ? el("p", {}, el("a", { id: "suggestion", href: changed({ [error.field]: error.suggestion, offset: null }) },
      `Find the objects with “${input.value.trim()}” in a text`)) : null);
}
