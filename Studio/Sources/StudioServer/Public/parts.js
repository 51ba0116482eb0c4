// What several pages are made of.
import { el, count } from "./dom.js";
import { here, changed } from "./address.js";

/** A number on the right of its cell. */
export const number = (amount) => el("span", { class: "number" }, count(amount));

/** A table that scrolls by itself where it is wider than the window. */
export function table(heads, rows, attributes = {}) {
  return el("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": attributes.label ?? "Table" },
    el("table", {}, el("thead", {}, el("tr", {}, heads.map((head) =>
      head instanceof Element && head.tagName === "TH" ? head : el("th", { scope: "col" }, head)))),
    el("tbody", {}, rows.map((cells) => cells instanceof Element ? cells
      : el("tr", {}, cells.map((cell, index) => el(index ? "td" : "th", index ? {} : { scope: "row" }, cell)))))));
}

/** Why a page cannot be shown, in place of it. */
export function problem(error) {
  return el("div", { class: "problem", role: "alert" }, el("h1", {}, "This cannot be shown"), el("p", {}, error.message),
    here().query.get("at") ? el("p", {}, el("a", { href: changed({ at: null }) }, "See it in the newest state")) : null);
}
