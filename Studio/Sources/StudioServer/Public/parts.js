// What several pages are made of.
import { el, count, size } from "./dom.js";
import { here, changed } from "./address.js";
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

/** Why a page cannot be shown, in place of it. */
export function problem(error) {
  return el("div", { class: "problem", role: "alert" }, el("h1", {}, "This cannot be shown"), el("p", {}, error.message),
    here().query.get("at") ? el("p", {}, el("a", { href: changed({ at: null }) }, "See it in the newest state")) : null);
}
