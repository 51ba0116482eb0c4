// The page of one object.
import { el, count, time, utc } from "./dom.js";
import { to, changed } from "./address.js";
import { value, objectLink, wholeValue, eventList, who } from "./values.js";
import { table, field } from "./parts.js";
import { entry } from "./patch.js";
import { editor, linker, unlinker, changer } from "./change.js";

/** Values and who set each, relationships both ways, and history. */
export function object(place, page, navigate) {
  const whole = (name, at = page.moment.transaction) => wholeValue(page.object, name, at);
  const isCompared = page.other !== undefined;
  const { isWritable, follows, transaction } = page.moment;
  const isEditable = isWritable && follows && page.exists;
  // Where a small window has no heads, the two values say of which moment they are.
  const heads = isCompared ? ["value", `at transaction ${count(page.other)}`] : [];
  return [
    el("h1", {}, el("bdi", {}, page.label)),
    el("p", { class: "sub" }, el("a", { href: to(["objects", page.entity]) }, page.entity), " · ", el("code", {}, page.uri)),
    page.exists ? null : fate(page),
    page.erasures.length ? erased(page.erasures) : null,
    isWritable ? el("p", { class: "buttons" },
      isEditable ? changer("delete", "Delete…", { kind: "delete", object: page.object, seen: transaction }) : null,
      follows ? null : changer("restore", `Restore this state…`, { kind: "restore", object: page.object, at: String(transaction) })) : null,
    compare(place, navigate, page.mistake),
    page.values.length ? table(
      ["property", ...isCompared ? heads : ["value"], "set by", "when (UTC)"],
      page.values.map((item) => el("tr", { class: item.isChanged ? "changed" : null, id: `value-${item.name}` },
        el("th", { scope: "row", title: item.type }, item.name),
        el("td", { "data-head": heads[0] }, value(item.value, whole(item.name)), picture(item.name, item.value, whole(item.name)),
          isEditable && !item.isDerived ? [" ", editor(page.object, item, whole(item.name), transaction)] : null),
        isCompared ? el("td", { "data-head": heads[1] }, value(item.other, whole(item.name, page.other)),
          picture(item.name, item.other, whole(item.name, page.other))) : null,
        el("td", {}, item.origin ? [who(item.origin), item.origin.before
          ? el("span", { class: "before" }, " was ",
            value(item.origin.before, whole(item.name, item.origin.transaction - 1))) : null] : el("span", { class: "nil" },
          item.isBeforeHistory ? "before the history" : "by default")),
        el("td", {}, item.origin ? time(item.origin.time) : ""))), { label: "Values", isStacked: true }) : null,
    page.relationships.length ? el("section", {}, el("h2", {}, "Relationships"), el("dl", { class: "relationships" },
      page.relationships.map((relationship) => [
        el("dt", {}, relationship.name, " ", el("span", { class: "nil" }, count(relationship.count))),
        el("dd", {}, el("ul", {}, relationship.first.map((member) => el("li", {}, objectLink(member.object, member.label),
          isEditable && !relationship.isHidden ? [" ", unlinker(page.object, relationship.name, member, transaction)] : null)),
          relationship.count > relationship.first.length
            ? el("li", { class: "nil" }, relationship.condition
              ? el("a", { href: to(["objects", relationship.entity], { where: relationship.condition }) }, `all ${count(relationship.count)}`)
              : `and ${count(relationship.count - relationship.first.length)} more`) : null),
        isEditable && !relationship.isHidden ? linker(page.object, relationship.name, relationship.entity, transaction) : null)]))) : null,
    el("section", {}, el("h2", {}, "History"), page.history.map((change) => entry(change.transaction.number, change, () => el("article", { class: "change" },
      el("h3", {}, who(change.transaction), " ", utc(change.transaction.time), " ",
        el("a", { class: "plain", href: () => changed({ at: change.transaction.number, with: null }) }, "see it then"), " ",
        el("a", { class: "plain", href: () => changed({ with: change.transaction.number }) }, "compare")),
      eventList(change.events)))),
    page.isHistoryCut ? el("p", {}, el("a", { href: changed({ events: 1000 }) }, "Older events")) : null),
  ].filter(Boolean);
}

/** Why the object is not there, which transaction is the reason, and when it was there. */
function fate({ fate, fateTransaction, moment }) {
  const then = fateTransaction && (fateTransaction.number > moment.transaction ? fateTransaction.number : fateTransaction.number - 1);
  return el("p", { class: "note", id: "fate" }, fate, fateTransaction ? [" ", who(fateTransaction), " ", utc(fateTransaction.time), " ",
    el("a", { href: changed({ at: then, with: null }) }, "see it then")] : null);
}

/** Values may be missing because they were erased from the past too. */
const erased = (erasures) => el("p", { class: "note", id: "erased" }, "Values were erased from every moment, so nil may mean erased: ",
  erasures.map((item, index) => [index ? "; " : "", who(item), " ", utc(item.time)]));

function compare(place, navigate, mistake) {
  return el("form", { class: "compare", submit: (event) => {
    event.preventDefault();
    navigate(changed({ with: new FormData(event.target).get("with").trim() }));
  } }, field("with", "Compare with", { placeholder: "a transaction, a tag, a date", value: place.query.get("with") ?? "" }, mistake),
  el("button", { type: "submit" }, "Compare"));
}

/** A preview where the value is a picture; anything else takes its place away. */
function picture(name, cell, address) {
  if (cell.kind !== "data") return null;
  const image = el("img", { src: address, alt: `Picture of ${name}`, loading: "lazy" });
  image.addEventListener("error", () => image.remove());
  return image;
}
