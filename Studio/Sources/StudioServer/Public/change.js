// Changes: first what one would do, then a save that a person has confirmed.
import { el, count, counted, harmless, utc } from "./dom.js";
import { here, to } from "./address.js";
import { completion, objectsOf } from "./completion.js";
import { value, who } from "./values.js";

let navigate = null;
let announce = () => {};

/** The front end says how to show another page, and how to tell what has happened. */
export function begin(goTo, tell) { [navigate, announce] = [goTo, tell]; }

async function post(page, body) {
  const answer = await fetch(`/${encodeURIComponent(here().store)}/${page}`, { method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" }, body: JSON.stringify(body) });
  return answer.json();
}

let isAsking = false;

/**
 * Shows what a change would do. Nothing is saved before the button that names it is pressed.
 *
 * `typed` has an author and a reason that a person has typed already.
 */
export async function propose(change, typed = {}) {
  // A second press means the same change.
  if (isAsking || document.querySelector("dialog[open]")) return;
  isAsking = true;
  const opener = document.activeElement;
  const draft = await post("draft", change)
    .catch((error) => ({ error: { message: `Studio does not answer: ${error.message}` } }));
  isAsking = false;
  const dialog = el("dialog", { class: "proposal", "aria-labelledby": "change-title" });
  dialog.append(...draft.error ? refused(draft.error, change, dialog) : proposal(draft, change, dialog, typed));
  dialog.addEventListener("close", () => { dialog.remove(); opener?.isConnected && opener.focus(); });
  document.body.append(dialog);
  dialog.showModal();
}

const cancel = (dialog) => el("button", { type: "button", class: "cancel", click: () => dialog.close() }, "Cancel");

function refused(error, change, dialog) {
  const again = (conflicts, text) => el("button", { type: "button",
    click: () => { dialog.close(); propose({ ...change, conflicts }); } }, text);
  return [el("h2", { id: "change-title" }, "This cannot be done"),
    el("p", { class: "problem", role: "alert", id: "refusal" }, error.message),
    ...conflicts(error.conflicts),
    el("div", { class: "buttons" }, change.kind === "revert" && !change.conflicts
      ? [again("keep", "Keep what has changed since"), again("revert", "Revert that too")] : null, cancel(dialog))];
}

/** What others have changed since a person saw it: what it was, what it is now, and what the change makes of it. */
function conflicts(list) {
  if (!list?.length) return [];
  const by = (item) => item.transaction ? [who(item.transaction), " ", utc(item.transaction.time)] : "";
  const deletion = list.find((item) => item.property === undefined);
  if (deletion) return [el("p", { class: "note", id: "conflicts" }, "It has been deleted since you saw it: ", by(deletion))];
  return [el("section", { class: "note", id: "conflicts" },
    el("h3", {}, "Others have changed this since you saw it"),
    list.map((item) => [el("h4", {}, item.property), el("dl", { class: "facts" },
      el("dt", {}, "you saw"), el("dd", {}, value(item.base)),
      el("dt", {}, "now"), el("dd", {}, value(item.theirs), " ", el("span", { class: "before" }, by(item))),
      el("dt", {}, "yours"), el("dd", {}, item.mine ? value(item.mine) : el("span", { class: "nil" }, "deleted")))]))];
}

function proposal(draft, change, dialog, typed) {
  const problem = el("p", { class: "problem", role: "alert", id: "refusal" });
  const isPossible = draft.count > 0 && draft.problems.length === 0;
  const save = el("button", { type: "submit", id: "save", disabled: !isPossible }, isPossible
    ? `${draft.conflicts.length ? "Save over it" : "Save"}: ${draft.summary}` : "Save");
  const field = (name, label, hint, text) => el("label", {}, el("span", {}, label),
    el("input", { id: name, name, placeholder: hint, value: text ?? "", autocomplete: "off", maxlength: 1000 }));
  const form = el("form", { method: "dialog", submit: async (event) => {
    event.preventDefault();
    if (save.disabled) return;
    const data = Object.fromEntries(new FormData(form));
    localStorage.setItem("author", data.author);
    save.disabled = true;
    const answer = await post("save", { draft: draft.draft, author: data.author, reason: data.reason }).catch(() => null);
    if (!answer) {
      // The same draft is saved once, however often it is sent.
      save.disabled = false;
      return problem.replaceChildren("Studio did not answer, so it is not known whether this was saved. Save again: it is saved once.");
    }
    // Sent again, because the first answer was lost.
    const saved = answer.transaction ?? answer.error?.transaction;
    if (answer.error && !saved) {
      const again = el("button", { type: "button", id: "look-again", click: () => { dialog.close(); propose(change, data); } }, "Look again");
      problem.replaceChildren(harmless(answer.error.message), " ", again);
      dialog.querySelector("#conflicts")?.remove();
      problem.after(...conflicts(answer.error.conflicts));
      return again.focus();
    }
    dialog.close();
    await navigate(to(["transaction", saved], { at: null }));
    announce(`Saved as transaction ${saved}.`);
  } },
  field("author", "Author", "your login name", typed.author ?? localStorage.getItem("author")),
  field("reason", "Reason", "why", typed.reason ?? draft.reason),
  el("div", { class: "buttons" }, save, cancel(dialog)));
  return [
    el("h2", { id: "change-title" }, draft.count ? `This would change ${counted(draft.count, "object")}` : "This would change nothing"),
    ...conflicts(draft.conflicts),
    draft.problems.length ? el("ul", { class: "problem", id: "problems" }, draft.problems.map((text) => el("li", {}, text))) : null,
    el("ul", { class: "events consequences", id: "consequences" }, draft.objects.map(consequence)),
    draft.count > draft.objects.length ? el("p", { class: "nil" }, `and ${count(draft.count - draft.objects.length)} more`) : null,
    problem, form].filter(Boolean);
}

const consequence = (item) => el("li", { class: item.kind },
  el("span", { class: "kind" }, item.kind), " ", el("bdi", {}, item.label),
  el("dl", { class: "changes" },
    item.changes.map((change) => [el("dt", {}, change.property), el("dd", {},
      change.before ? el("del", {}, value(change.before)) : null, change.before && change.after ? " → " : null,
      change.after ? el("ins", {}, value(change.after)) : null)]),
    item.links.map((link) => [el("dt", {}, link.relationship), el("dd", {},
      link.added.map((label) => el("ins", {}, `+ ${label} `)), link.removed.map((label) => el("del", {}, `− ${label} `)),
      link.moved.map((label) => `${label} moves `))])));

// MARK: Fields

/** All characters of an answer: `text()` would leave out a byte order mark. */
async function wholeText(address) {
  const answer = await fetch(address, { headers: { Accept: "text/plain" } });
  if (!answer.ok) throw new Error((await answer.json()).error.message);
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await answer.arrayBuffer());
}

/** What was typed, with the ends of lines that the text had: a field knows only line feeds. */
export function withLineEnds(typed, text) {
  const lines = (some) => some.split(/(?<=\r\n|\r(?!\n)|\n)/);
  const bare = (line) => line.replace(/[\r\n]+$/, "");
  const [before, after] = [lines(text), lines(typed)];
  const usual = text.match(/\r\n|\r|\n/)?.[0] ?? "\n";
  const ends = (line) => line.length > bare(line).length;
  const isSame = (one, other) => bare(one) === bare(other) && ends(one) === ends(other);
  const shortest = Math.min(before.length, after.length);
  let [start, end] = [0, 0];
  while (start < shortest && isSame(before[start], after[start])) start += 1;
  while (end < shortest - start && isSame(before.at(-1 - end), after.at(-1 - end))) end += 1;
  const middle = after.slice(start, after.length - end).map((line) => ends(line) ? bare(line) + usual : line);
  return [...before.slice(0, start), ...middle, ...before.slice(before.length - end)].join("");
}

/** A button that turns a value into a field. `seen` is the transaction after which the page shows the value. */
export function editor(object, item, whole, seen) {
  const cell = el("span", { class: "edit", "data-kept": `edit-${item.name}` });
  const close = () => {
    cell.removeAttribute("data-begun");
    cell.replaceChildren(open);
  };
  const open = el("button", { type: "button", class: "small", "aria-label": `Edit ${item.name}`, click: async () => {
    let text = "";
    const hasValue = !["null", "data", "encrypted"].includes(item.value.kind);
    // What comes in while the text is read does not take its place away.
    cell.setAttribute("data-begun", "");
    try {
      if (hasValue) text = await wholeText(whole);
    } catch (error) {
      cell.removeAttribute("data-begun");
      return cell.replaceChildren(open, el("span", { class: "problem", role: "alert" }, ` It cannot be read: ${error.message}`));
    }
    const isLong = item.type === "string";
    const input = el(isLong ? "textarea" : "input", { "aria-label": item.name, id: `edit-${item.name}`, autocomplete: "off", rows: isLong ? 2 : null });
    input.value = text;
    const shown = input.value;
    // Without a value, an empty text is a change, if somebody made it.
    let isTouched = false;
    input.addEventListener("input", () => { isTouched = true; });
    const note = el("span", { class: "nil", role: "status" });
    const field = item.destination ? choice(input, item.destination) : input;
    cell.replaceChildren(el("form", { class: "edit", submit: (event) => {
      event.preventDefault();
      if (input.value === shown && (hasValue || !isTouched)) return note.replaceChildren("It has not been changed.");
      note.replaceChildren();
      propose({ kind: "set", object, seen, values: { [item.name]: isLong ? withLineEnds(input.value, text) : input.value } });
    } }, field, el("button", { type: "submit" }, "Look"),
    el("button", { type: "button", click: () => propose({ kind: "set", object, seen, values: { [item.name]: null } }) }, "Nil"),
    el("button", { type: "button", click: close }, "Cancel"), note));
    input.focus();
  } }, "Edit");
  cell.append(open);
  return cell;
}

/** A button that takes a member from a relationship. */
export const unlinker = (object, relationship, member, seen) => el("button", { type: "button", class: "small",
  "aria-label": `Unlink ${member.label}`, click: () => propose({ kind: "unlink", object, seen, relationship, members: [member.object] }) }, "×");

/** A field that adds a member to a relationship. */
export function linker(object, relationship, entity, seen) {
  const input = el("input", { "aria-label": `Link to ${relationship}`, placeholder: `${entity}/p5, or words`, id: `link-${relationship}`, autocomplete: "off" });
  return el("form", { class: "edit", submit: (event) => {
    event.preventDefault();
    propose({ kind: "link", object, seen, relationship, members: [input.value.trim()] });
  } }, choice(input, entity), el("button", { type: "submit", class: "small" }, "Link"));
}

/** A field for an object, with those that have the typed words. */
const choice = (input, entity) => el("span", { class: "field" }, input, completion(input, objectsOf(entity)));

/** A button for a change. */
export const changer = (id, text, change) => el("button", { type: "button", id, click: () => propose(change) }, text);
