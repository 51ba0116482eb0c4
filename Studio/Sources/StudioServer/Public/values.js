// Shows values, and objects that values lead to.
import { el, count, size, date } from "./dom.js";
import { to, toObject } from "./address.js";
import { entry } from "./patch.js";

/** A link to an object: its name for people, or its reference. */
export function objectLink(reference, label = reference) {
  return el("a", { href: () => toObject(reference), class: "object" }, label);
}

/** Whether a text is short and has no place where a line may end. */
const isWord = (text) => text.length <= 24 && !/[\s-]/.test(text);

/** The parts of a value. `whole` is the address of all of it, where the page shows a part. */
export function value(cell, whole) {
  if (!cell) return "";
  if (cell.object) return objectLink(cell.object, cell.text);
  switch (cell.kind) {
    case "null": return el("span", { class: "nil" }, "nil");
    case "list": return list(cell);
    case "encrypted": return el("span", { class: "nil encrypted" }, cell.text);
    case "date": return el("bdi", { class: "date" }, date(cell.text));
    case "data": return el("span", { class: "data" }, whole ? el("a", { href: whole }, size(cell.bytes ?? 0)) : size(cell.bytes ?? 0));
    case "text": if (!cell.text.trim()) return el("span", { class: "nil" }, cell.text ? "only spaces" : "empty");
  }
  const text = el("bdi", { class: isWord(cell.text) ? `${cell.kind} word` : cell.kind }, cell.text);
  return cell.isCut && whole ? [text, " ", el("a", { href: whole, class: "more" }, `all ${size(cell.bytes ?? 0)}`)] : text;
}

function list(cell) {
  const items = (cell.items ?? []).flatMap((item, index) => [index ? ", " : "", value(item)]);
  return el("span", { class: "list" }, items.length ? items : el("span", { class: "nil" }, "none"),
    cell.isCut ? ` … ${cell.text}` : null);
}

/** The address of a whole value. */
export const wholeValue = (reference, property, moment) =>
  to(["value", ...reference.split("/"), property], moment === undefined ? {} : { at: moment });

/** The words for events that concern no object. */
const kinds = { modelInstalled: "model", maintenance: "store" };

/** The address of all of a value before or after an event: that before is in the state that the transaction found. */
function wholeOf(event, property, isAfter) {
  if (!event.object) return undefined;
  return wholeValue(event.object, property, isAfter || event.kind === "deleted" ? event.at : event.at - 1);
}

/** What happened, as a list: each event with its changes. */
export function eventList(events) {
  return el("ul", { class: "events" }, events.map((event) => entry(event.number, event, () => el("li", { class: event.kind },
    el("span", { class: "kind" }, kinds[event.kind] ?? event.kind), " ",
    event.object ? el("a", { href: toObject(event.object, { at: event.at }) }, event.label ?? event.object) : null,
    event.relationship ? [` ${event.relationship} → `,
      el("a", { href: toObject(event.target, { at: event.targetAt }) }, event.targetLabel ?? event.target)] : null,
    event.text ? el("span", { class: "text" }, ` ${event.text}`) : null,
    event.changes.length ? el("dl", { class: "changes" }, event.changes.map((change) => [
      el("dt", {}, change.property),
      el("dd", {}, change.before ? el("del", {}, value(change.before, wholeOf(event, change.property, false))) : null,
        change.before && change.after ? " → " : null,
        change.after ? el("ins", {}, value(change.after, wholeOf(event, change.property, true))) : null)])) : null))));
}

/** Who did it, when and why, with links to the transaction. */
export function who(origin) {
  const number = origin.transaction ?? origin.number;
  return [el("a", { href: () => to(["transaction", number]) }, `t${count(number)}`), " ",
    origin.author ? el("bdi", { class: "author" }, origin.author) : el("span", { class: "nil" }, "no author"),
    origin.reason ? el("bdi", { class: "reason" }, ` “${origin.reason}”`) : null];
}
