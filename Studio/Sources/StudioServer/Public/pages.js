// The pages: each makes elements of an answer.
import { el, count, counted, size, time, utc } from "./dom.js";
import { askForDocument, here, to, changed } from "./address.js";
import { early } from "./early.js";
import { eventList } from "./values.js";
import { number, bytes, table, field, problem } from "./parts.js";
import { object } from "./object.js";
import { objects } from "./objects.js";
import { changer } from "./change.js";
import { patch } from "./patch.js";

/** The elements of a page, or of the problem with it. */
export function render(place, page, navigate) {
  const make = pages[place.page];
  if (page.error) return place.page in formed ? formed[place.page](place, page, navigate) : [problem(page.error)];
  return make ? make(place, page, navigate) : [el("h1", {}, "There is no such page")];
}

/** Pages with a form, in which a mistake is shown. */
const formed = { objects, transactions };

const pages = { stores, model, objects, object, transactions, transaction, health, timeline: model };

// MARK: Stores

function stores(place, page, navigate) {
  if (page.stores.length === 1) {
    navigate(`/${encodeURIComponent(page.stores[0].name)}`, { replaces: true });
    return [];
  }
  return [el("h1", {}, "Stores"), table(["store", "transactions", "events", "last change (UTC)"], page.stores.map((store) => [
    el("a", { href: `/${encodeURIComponent(store.name)}` }, store.name), number(store.transactions),
    number(store.events), time(store.last)]))];
}

// MARK: Model

function model(place, page) {
  const drawing = el("div", { class: "scroll diagram", role: "region", tabindex: 0, "aria-label": "Diagram of the model",
    "data-kept": "diagram", "data-begun": true, kept: (event) => loadDrawing(event.currentTarget) });
  // The drawing of another moment stays until this one has come, and asks for it then.
  queueMicrotask(() => { if (drawing.isConnected) loadDrawing(drawing); });
  return [el("h1", {}, "Model"),
    el("p", { class: "sub" }, `Version ${page.version} · ${counted(page.entities.length, "entity", "entities")}`),
    drawing,
    table(["entity", "objects", "attributes", "relationships", "indexes"], page.entities.map((entity) => {
      const { description } = entity;
      return [
        [el("a", { href: to(["objects", entity.name]), id: `entity-${entity.name}` }, entity.name),
          description.parent ? el("span", { class: "nil" }, ` is a ${description.parent}`) : null,
          description.abstract ? el("span", { class: "nil" }, " abstract") : null],
        number(entity.countWithSubentities),
        names(description.attributes, (attribute) => attribute.type + (attribute.optional ? "" : ", required")),
        names(description.relationships, (relationship) =>
          `${relationship.toMany ? "to-many" : "to-one"} ${relationship.destination}`),
        [description.indexes.map((index) => index.properties.join(", ")),
          (description.unique ?? []).map((keys) => `unique ${keys.join(", ")}`)].flat().join("; ")];
    }), { label: "Entities" }),
    page.versions.length > 1 ? el("section", {}, el("h2", {}, "Versions"), page.versions.map((version, index) =>
      el("details", { open: version.version === page.version }, el("summary", {}, `Version ${version.version}`),
        el("ul", {}, version.changes.length ? version.changes.map((change) => el("li", {}, change))
          : el("li", { class: "nil" }, index === page.versions.length - 1 ? "the first" : "no entity and no view changed"))))) : null].filter(Boolean);
}

const names = (list, note) => el("ul", { class: "names" }, list.map((item) =>
  el("li", {}, item.name, " ", el("span", { class: "nil" }, note(item)))));

async function loadDrawing(target) {
  loads.get(target)?.abort();
  const own = new AbortController();
  loads.set(target, own);
  const address = to(["model.svg"]);
  const drawing = await (early(address) ?? askForDocument(address, own.signal));
  if (loads.get(target) !== own) return;
  patch(target, [drawing?.localName === "svg" ? document.importNode(drawing, true)
    : el("p", { class: "nil" }, "The diagram did not come.")]);
}

/** Ends the last request that each place has made for a drawing. */
const loads = new WeakMap();

// MARK: Transactions

function transactions(place, page, navigate) {
  const { query } = place;
  const { error } = page;
  const part = (name, label, hint) => field(name, label, { value: query.get(name) ?? "", placeholder: hint,
    type: name === "text" ? "search" : "text" }, error);
  return [
    el("h1", {}, "Transactions"),
    el("form", { class: "filter", role: "search", submit: (event) => {
      event.preventDefault();
      const data = new FormData(event.target);
      navigate(changed({ before: null, ...Object.fromEntries(data) }));
    } }, part("text", "Text", "in reasons, names and metadata"), part("author", "Author", "ann"),
    part("entity", "Entity", "Film"), part("since", "Since", "2026-11-21"), part("until", "Until", "t12, a tag"),
    el("button", { type: "submit" }, "Show")),
    ...error ? [["text", "author", "entity", "since", "until"].includes(error.field) ? null : problem(error)].filter(Boolean)
      : found(query, page)];
}

/** The transactions that a form has found, and where there are more. */
function found(query, page) {
  return [page.transactions.length ? table(["transaction", "when (UTC)", "author", "what", "reason"], page.transactions.map((item) => ({ entry: item.number, data: item, cells: () => [
      el("a", { href: () => to(["transaction", item.number]) }, `t${count(item.number)}`), time(item.time),
      item.author ? el("bdi", { class: "author" }, item.author) : el("span", { class: "nil" }, "none"),
      item.notes?.length ? el("bdi", { class: "notes" }, item.notes.join("; ")) : [counted(item.events, "event"), item.entities.length ? ": " : "", item.entities.map((part, index) =>
        [index ? "; " : "", el("a", { href: to(["objects", part.entity], { at: item.number }) }, part.entity), ` ${part.kinds.join(", ")}`])],
      item.reason ? el("bdi", { class: "reason" }, item.reason) : ""] })), { label: "Transactions", isStacked: true })
      : el("p", { class: "nil" }, "There are none."),
    el("nav", { class: "pager", "aria-label": "Pages" },
      query.get("before") ? el("a", { id: "earlier", href: changed({ before: null }) }, "‹ Newest") : null,
      page.next ? el("a", { id: "later", href: changed({ before: page.next }) }, "Older ›") : null)];
}

function transaction(place, page) {
  const item = page.transaction;
  const facts = { when: utc(item.time), author: item.author, reason: item.reason, context: item.context,
    process: item.process, events: count(item.events), tags: page.tags.join(", ") };
  const last = page.offset + page.events.length;
  return [
    el("h1", {}, `Transaction ${count(item.number)}`),
    el("nav", { class: "pager", "aria-label": "Neighbours" },
      page.previous ? el("a", { id: "earlier", href: to(["transaction", page.previous]) }, "‹ Previous") : null,
      page.next ? el("a", { id: "later", href: to(["transaction", page.next]) }, "Next ›") : null,
      el("a", { href: to(["model"], { at: item.number }), id: "then" }, "See the store then"),
      page.moment.isWritable ? changer("revert", "Revert…", { kind: "revert", transaction: item.number }) : null),
    el("dl", { class: "facts" }, [...Object.entries(facts), ...Object.entries(page.metadata)]
      .filter(([, text]) => text).map(([name, text]) => [el("dt", {}, name), el("dd", {}, el("bdi", {}, text))])),
    page.conflicts.length ? el("section", {}, el("h2", {}, "Conflicts overruled"),
      el("ul", {}, page.conflicts.map((conflict) => el("li", {}, conflict)))) : null,
    el("section", {}, el("h2", {}, "What it did"), page.counts?.length ? el("p", { class: "sub", id: "counts" },
      page.counts.map((part) => `${count(part.count)} ${part.entity} ${part.kind}`).join(", ")) : null, eventList(page.events),
      el("nav", { class: "pager", "aria-label": "Events" },
        page.offset > 0 ? el("a", { href: changed({ offset: null }) }, "‹ First events") : null,
        last < item.events ? el("a", { href: changed({ offset: last }) }, `Next events (${count(item.events - last)} more) ›`) : null)),
  ].filter(Boolean);
}

// MARK: Health

function health(place, page) {
  const { listing } = page;
  const facts = { path: listing.path, store: listing.store, created: utc(listing.created),
    "model versions": listing.models.join(", "), events: count(listing.log.events),
    transactions: count(listing.log.transactions), "free for later saves": size(listing.reclaimableBytes),
    "large values": `${counted(listing.blobs.files, "file")}, ${size(listing.blobs.bytes)}` };
  const isPast = page.moment.transaction < page.moment.newest;
  return [el("h1", {}, "Health"),
    isPast ? el("p", { class: "note", id: "present" }, "These are the files as they are now: sizes, readers and views of the "
      + "past are not kept.") : null,
    el("dl", { class: "facts" }, Object.entries(facts).map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)])),
    el("h2", {}, "Files"), table(["file", "size", "what it is"], listing.files.map((file) =>
      [el("span", { title: file.path }, inside(file.path, listing.path)), file.bytes === undefined ? "not there" : bytes(file.bytes),
        file.purpose]), { label: "Files" }),
    el("h2", {}, "Tables"), table(["table", "entries", "size", ""], listing.tables.map((item) =>
      [item.name, number(item.entries), bytes(item.bytes), item.view ? "view" : ""]), { label: "Tables" }),
    el("h2", {}, "Indexes"), table(["index", "entries", "keys", ""], listing.indexes.map((index) =>
      [`${index.entity ? index.entity + "." : ""}${index.name}`, number(index.entries), bytes(index.bytes),
        index.unique ? "unique" : ""]), { label: "Indexes" }),
    el("h2", {}, "Views"), page.views.length ? table(["view", "of", "rows", "size", "kept", "state"], page.views.map((view) =>
      [`${view.name} (version ${view.version})`, view.entity, number(view.rows), bytes(view.bytes),
        view.upkeep === "catchingUp" ? "behind the saves, by itself" : "with each save", viewState(view)]),
    { label: "Views" }) : el("p", { class: "nil" }, "The model declares none."),
    ...page.subscriptions.length ? [el("h2", {}, "Subscriptions"), table(["subscription", "has read to", "behind", "waiting since (UTC)"],
      page.subscriptions.map((item) => [item.name, el("a", { href: to(["transaction", item.transaction]) }, `t${count(item.transaction)}`),
        counted(item.lag, "transaction"), time(item.waitingSince)]), { label: "Subscriptions" })] : [],
    el("h2", {}, "Readers"), listing.readers.length ? table(["process", "state"], listing.readers.map((reader) =>
      [String(reader.process), reader.stale ? "stale: its process has ended" : reader.active ? "reading" : "idle"]),
    { label: "Readers" }) : el("p", { class: "nil" }, "No other process reads the store."),
    el("h2", {}, "Verification"), verification()];
}

/** The path of a file below a folder, or all of it elsewhere. */
const inside = (path, folder) => path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;

/** What a view does: one that catches up may be behind, being made or stopped; one that is kept in saves being made. */
function viewState(view) {
  const { failure } = view;
  const left = view.leftOut.length ? el("span", {}, `; leaves out ${view.leftOut.join(", ")}`) : null;
  const behind = view.lagEvents
    ? `${counted(view.lagEvents, "event")}, ${counted(Math.round(view.lagSeconds), "second")} behind` : null;
  switch (view.state) {
    case "building": return [`being made, ${Math.floor(view.progress * 100)} % done`, left];
    case "failed": return [el("span", { class: "problem" }, `stopped at event ${count(failure.event)} (`,
      el("bdi", {}, failure.object), "): ", el("bdi", {}, failure.reason),
      ` Tried ${counted(failure.attempts, "time")}.`), behind ? ` ${behind}` : null, left];
    default: return [behind ?? "up to date", left];
  }
}

/** Verifies the store on request, and says how far it is. */
function verification() {
  const text = el("p", { id: "verified", role: "status" }, "Reads everything and compares it with a replay of the log.");
  const bar = el("progress", { "aria-label": "Progress", hidden: true });
  const problems = el("ul", { class: "problem" });
  const start = (depth) => {
    part.setAttribute("data-begun", "");
    for (const button of buttons) button.disabled = true;
    const feed = new EventSource(`/${encodeURIComponent(here().store)}/verify?depth=${depth}`);
    const end = () => {
      feed.close();
      bar.hidden = true;
      for (const button of buttons) button.disabled = false;
    };
    feed.onmessage = ({ data }) => {
      const step = JSON.parse(data);
      if (step.text !== undefined) {
        end();
        text.textContent = (step.isSound === undefined ? "" : step.isSound ? "Sound: " : "Not sound: ") + step.text;
        problems.replaceChildren(...(step.problems ?? []).map((problem) => el("li", {}, el("bdi", {}, problem))));
        return;
      }
      text.textContent = `${step.phase}: ${count(step.done)}${step.total ? ` of ${count(step.total)}` : ""}`;
      bar.hidden = false;
      if (step.total) [bar.max, bar.value] = [step.total, step.done];
      else bar.removeAttribute("value");
    };
    feed.onerror = () => { end(); text.textContent = "The verification was interrupted."; };
  };
  const button = (id, name, depth) => el("button", { type: "button", id, click: () => start(depth) }, name);
  const buttons = [button("verify", "Verify", "full"), button("verify-quick", "Quick look", "quick")];
  const part = el("div", { class: "verification", "data-kept": "verification" }, ...buttons, bar, text, problems);
  return part;
}
