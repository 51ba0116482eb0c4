// The pages: each makes elements of an answer.
import { el, count, counted, size, time } from "./dom.js";
import { here, to, toObject, changed } from "./address.js";
import { value, objectLink, wholeValue, eventList, who } from "./values.js";

/** The elements of a page, or of the problem with it. */
export function render(place, page, navigate) {
  const make = pages[place.page];
  if (page.error) return place.page === "objects" ? objects(place, page, navigate) : [problem(page.error)];
  return make ? make(place, page, navigate) : [el("h1", {}, "There is no such page")];
}

function problem(error) {
  return el("div", { class: "problem", role: "alert" }, el("h1", {}, "This cannot be shown"), el("p", {}, error.message),
    el("p", {}, el("a", { href: changed({ at: null }) }, "See it in the newest state")));
}

const pages = { stores, model, objects, object, transactions, transaction, health, timeline: model };

// MARK: Stores

function stores(place, page, navigate) {
  if (page.stores.length === 1) {
    navigate(`/${encodeURIComponent(page.stores[0].name)}`, { replaces: true });
    return [];
  }
  return [el("h1", {}, "Stores"), table(["store", "transactions", "events", "last change"], page.stores.map((store) => [
    el("a", { href: `/${encodeURIComponent(store.name)}` }, store.name), number(store.transactions),
    number(store.events), time(store.last)]))];
}

const number = (amount) => el("span", { class: "number" }, count(amount));

/** A table that scrolls by itself where it is wider than the window. */
function table(heads, rows, attributes = {}) {
  return el("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": attributes.label ?? "Table" },
    el("table", {}, el("thead", {}, el("tr", {}, heads.map((head) =>
      head instanceof Element && head.tagName === "TH" ? head : el("th", { scope: "col" }, head)))),
    el("tbody", {}, rows.map((cells) => cells instanceof Element ? cells
      : el("tr", {}, cells.map((cell, index) => el(index ? "td" : "th", index ? {} : { scope: "row" }, cell)))))));
}

// MARK: Model

function model(place, page) {
  const drawing = el("div", { class: "scroll diagram", role: "region", tabindex: 0, "aria-label": "Diagram of the model" });
  loadDrawing(drawing);
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
    page.versions.length > 1 ? el("section", {}, el("h2", {}, "Versions"), page.versions.map((version) =>
      el("details", { open: version.version === page.version }, el("summary", {}, `Version ${version.version}`),
        el("ul", {}, version.changes.length ? version.changes.map((change) => el("li", {}, change))
          : el("li", { class: "nil" }, "the first"))))) : null].filter(Boolean);
}

const names = (list, note) => el("ul", { class: "names" }, list.map((item) =>
  el("li", {}, item.name, " ", el("span", { class: "nil" }, note(item)))));

/** The diagram comes as a document of its own, so that nothing here reads markup. */
function loadDrawing(target) {
  const load = new XMLHttpRequest();
  load.open("GET", to(["model.svg"]));
  load.responseType = "document";
  load.onload = () => {
    const drawing = load.responseXML?.documentElement;
    if (load.status === 200 && drawing?.localName === "svg") target.replaceChildren(document.importNode(drawing, true));
  };
  load.send();
}

// MARK: Objects

/** The columns of an entity are kept, so that a wrong filter can still be corrected by name. */
const available = new Map();

function objects(place, page, navigate) {
  const entity = place.parts[0];
  const { query } = place;
  if (page.available) available.set(entity, page.available);
  const go = (parameters) => navigate(changed({ offset: null, ...parameters }));
  return [
    el("h1", {}, entity),
    form(query, page.error, available.get(entity) ?? [], go),
    ...page.error ? [page.error.field ? null : problem(page.error)].filter(Boolean)
      : [el("p", { class: "sub", id: "counts" }, summary(page)), ...grid(page, query), pager(page), plan(page)].filter(Boolean)];
}

function form(query, error, columns, go) {
  const field = (name, label, hint) => {
    const isWrong = error?.field === name;
    const input = el("input", { id: name, name, type: name === "where" ? "search" : "text", value: query.get(name) ?? "",
      placeholder: hint, autocomplete: "off", spellcheck: "false", autocapitalize: "off",
      "aria-invalid": isWrong ? "true" : null, "aria-describedby": isWrong ? "problem" : null });
    return el("label", { class: name }, el("span", {}, label), input, isWrong ? mistake(error, input) : null);
  };
  const where = field("where", "Filter", "rating > 4 AND name CONTAINS[cd] \"al\"");
  const input = where.querySelector("input");
  return el("form", { class: "filter", role: "search", submit: (event) => {
    event.preventDefault();
    const data = new FormData(event.target);
    go({ where: data.get("where"), sort: data.get("sort"), columns: data.get("columns") });
  } },
    where, field("sort", "Sort", "-rating, name"), field("columns", "Columns", "all, or: name, genres.@count"),
    el("button", { type: "submit" }, "Show"),
    facets(query, columns, go),
    columns.length ? el("details", { class: "properties" }, el("summary", {}, "Properties"),
      el("ul", {}, columns.map((column) => el("li", {}, el("button", { type: "button", title: column.type, click: () => {
        input.setRangeText(column.name, input.selectionStart, input.selectionEnd, "end");
        input.focus();
      } }, column.name))))) : null,
    el("a", { class: "plain", href: changed({ explain: query.get("explain") ? null : 1 }) },
      query.get("explain") ? "Hide the plan" : "Explain"),
    el("a", { class: "plain", href: location.pathname + ".json" + location.search, download: true }, "JSON"));
}

/** The most frequent values of a property, on request; each narrows the filter to its objects. */
function facets(query, columns, go) {
  const single = columns.filter((column) => column.type && !column.type.startsWith("to-many"));
  if (!single.length) return null;
  const list = el("ul", { class: "values", "aria-live": "polite" });
  const entity = here().parts[0];
  const show = async (name) => {
    const answer = await fetch(to(["facet", entity, name], { where: query.get("where") }),
      { headers: { Accept: "application/json" } });
    const page = await answer.json();
    if (page.error) return list.replaceChildren(el("li", { class: "problem" }, page.error.message));
    const where = query.get("where");
    list.replaceChildren(...page.parts.map((part) => el("li", {},
      part.condition ? el("button", { type: "button",
        click: () => go({ where: where ? `(${where}) AND ${part.condition}` : part.condition }) }, value(part.value))
        : value(part.value), ` ${count(part.count)}`)), page.isCut ? el("li", { class: "nil" }, "and more") : "");
  };
  return el("details", { class: "properties", id: "facets" }, el("summary", {}, "Values"),
    el("ul", {}, single.map((column) => el("li", {},
      el("button", { type: "button", click: () => show(column.name) }, column.name)))), list);
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
    error.expected && !error.message.includes(error.expected) ? ` Expected: ${error.expected}.` : null);
}

function summary(page) {
  const last = page.offset + page.rows.length;
  if (page.rows.length === 0) return page.total ? `None of ${counted(page.total, "object")} meets this.` : "There are no objects.";
  return `${count(page.offset + 1)} to ${count(last)} of ${counted(page.count, "object")}`
    + (page.count < page.total ? `, ${count(page.total)} without the filter` : "");
}

function grid(page, query) {
  const sort = (query.get("sort") ?? "").trim();
  const head = (column) => {
    const isSortable = column.type && !column.type.startsWith("to-many");
    const state = sort === column.name ? "ascending" : sort === "-" + column.name ? "descending" : null;
    return el("th", { scope: "col", "aria-sort": state, title: column.type }, isSortable
      ? el("a", { href: changed({ sort: state === "ascending" ? "-" + column.name : column.name, offset: null }),
        id: `sort-${column.name}` }, column.name, state ? (state === "ascending" ? " ↑" : " ↓") : "")
      : column.name);
  };
  return [table([el("th", { scope: "col" }, "object"), ...page.columns.map(head)], page.rows.map((row) => [
    objectLink(row.object, row.object),
    ...row.cells.map((cell, index) => value(cell, wholeValue(row.object, page.columns[index].name)))]),
  { label: "Objects" })];
}

function pager(page) {
  const last = page.offset + page.rows.length;
  return el("nav", { class: "pager", "aria-label": "Pages" },
    page.offset > 0 ? el("a", { id: "earlier", href: changed({ offset: Math.max(0, page.offset - page.limit) || null }) }, "‹ Previous") : null,
    last < page.count ? el("a", { id: "later", href: changed({ offset: last }) }, "Next ›") : null);
}

const plan = (page) => page.plan
  ? el("section", {}, el("h2", {}, "Plan"), el("pre", { class: "plan", tabindex: 0 }, page.plan)) : null;

// MARK: One object

function object(place, page, navigate) {
  const whole = (name) => wholeValue(page.object, name, page.moment.transaction);
  const isCompared = page.other !== undefined;
  return [
    el("h1", {}, el("bdi", {}, page.label)),
    el("p", { class: "sub" }, el("a", { href: to(["objects", page.entity]) }, page.entity), " · ", el("code", {}, page.uri)),
    page.exists ? null : el("p", { class: "note", id: "fate" }, page.fate),
    compare(place, navigate),
    page.values.length ? table(
      ["property", "value", ...isCompared ? [`at transaction ${count(page.other)}`] : [], "set by", "when"],
      page.values.map((item) => el("tr", { class: item.isChanged ? "changed" : null, id: `value-${item.name}` },
        el("th", { scope: "row", title: item.type }, item.name),
        el("td", {}, value(item.value, whole(item.name)), picture(item, whole(item.name))),
        isCompared ? el("td", {}, value(item.other)) : null,
        el("td", {}, item.origin ? who(item.origin) : el("span", { class: "nil" }, "by default")),
        el("td", {}, item.origin ? time(item.origin.time) : ""))), { label: "Values" }) : null,
    page.relationships.length ? el("section", {}, el("h2", {}, "Relationships"), el("dl", { class: "relationships" },
      page.relationships.map((relationship) => [
        el("dt", {}, relationship.name, " ", el("span", { class: "nil" }, count(relationship.count))),
        el("dd", {}, el("ul", {}, relationship.first.map((member) => el("li", {}, objectLink(member.object, member.label))),
          relationship.count > relationship.first.length
            ? el("li", { class: "nil" }, `and ${count(relationship.count - relationship.first.length)} more`) : null))]))) : null,
    el("section", {}, el("h2", {}, "History"), page.history.map((change) => el("article", { class: "change" },
      el("h3", {}, who(change.transaction), " ", time(change.transaction.time), " ",
        el("a", { class: "plain", href: changed({ at: change.transaction.number, with: null }) }, "see it then"), " ",
        el("a", { class: "plain", href: changed({ with: change.transaction.number }) }, "compare")),
      eventList(change.events, change.transaction.number))),
    page.isHistoryCut ? el("p", {}, el("a", { href: changed({ events: 1000 }) }, "Older events")) : null),
  ].filter(Boolean);
}

function compare(place, navigate) {
  return el("form", { class: "compare", submit: (event) => {
    event.preventDefault();
    navigate(changed({ with: new FormData(event.target).get("with").trim() }));
  } }, el("label", {}, el("span", {}, "Compare with"), el("input", { id: "with", name: "with", autocomplete: "off",
    placeholder: "a transaction, a tag, a date", value: place.query.get("with") ?? "" })),
  el("button", { type: "submit" }, "Compare"));
}

/** A preview where the value is a picture; anything else takes its place away. */
function picture(item, address) {
  if (item.value.kind !== "data") return null;
  const image = el("img", { src: address, alt: `Picture of ${item.name}`, loading: "lazy" });
  image.addEventListener("error", () => image.remove());
  return image;
}

// MARK: Transactions

function transactions(place, page, navigate) {
  const { query } = place;
  const field = (name, label, hint) => el("label", { class: name }, el("span", {}, label), el("input", { id: name, name,
    value: query.get(name) ?? "", placeholder: hint, autocomplete: "off", type: name === "text" ? "search" : "text" }));
  return [
    el("h1", {}, "Transactions"),
    el("form", { class: "filter", role: "search", submit: (event) => {
      event.preventDefault();
      const data = new FormData(event.target);
      navigate(changed({ before: null, text: data.get("text"), author: data.get("author"), entity: data.get("entity") }));
    } }, field("text", "Text", "in reasons, names and metadata"), field("author", "Author", "ann"),
    field("entity", "Entity", "Film"), el("button", { type: "submit" }, "Show")),
    page.transactions.length ? table(["transaction", "when", "author", "what", "reason"], page.transactions.map((item) => [
      el("a", { href: to(["transaction", item.number]) }, `t${count(item.number)}`), time(item.time),
      item.author ? el("bdi", { class: "author" }, item.author) : el("span", { class: "nil" }, "none"),
      [counted(item.events, "event"), item.entities.length ? ": " : "", item.entities.map((part, index) =>
        [index ? "; " : "", el("a", { href: to(["objects", part.entity], { at: item.number }) }, part.entity), ` ${part.kinds.join(", ")}`])],
      item.reason ? el("bdi", { class: "reason" }, item.reason) : ""]), { label: "Transactions" })
      : el("p", { class: "nil" }, "There are none."),
    el("nav", { class: "pager", "aria-label": "Pages" },
      query.get("before") ? el("a", { id: "earlier", href: changed({ before: null }) }, "‹ Newest") : null,
      page.next ? el("a", { id: "later", href: changed({ before: page.next }) }, "Older ›") : null)];
}

function transaction(place, page) {
  const item = page.transaction;
  const facts = { when: time(item.time), author: item.author, reason: item.reason, context: item.context,
    process: item.process, events: count(item.events), tags: page.tags.join(", ") };
  const last = page.offset + page.events.length;
  return [
    el("h1", {}, `Transaction ${count(item.number)}`),
    el("nav", { class: "pager", "aria-label": "Neighbours" },
      page.previous ? el("a", { id: "earlier", href: to(["transaction", page.previous]) }, "‹ Previous") : null,
      page.next ? el("a", { id: "later", href: to(["transaction", page.next]) }, "Next ›") : null,
      el("a", { href: to(["model"], { at: item.number }), id: "then" }, "See the store then")),
    el("dl", { class: "facts" }, [...Object.entries(facts), ...Object.entries(page.metadata)]
      .filter(([, text]) => text).map(([name, text]) => [el("dt", {}, name), el("dd", {}, el("bdi", {}, text))])),
    page.conflicts.length ? el("section", {}, el("h2", {}, "Conflicts overruled"),
      el("ul", {}, page.conflicts.map((conflict) => el("li", {}, conflict)))) : null,
    el("section", {}, el("h2", {}, "What it did"), eventList(page.events, item.number),
      el("nav", { class: "pager", "aria-label": "Events" },
        page.offset > 0 ? el("a", { href: changed({ offset: null }) }, "‹ First events") : null,
        last < item.events ? el("a", { href: changed({ offset: last }) }, `Next events (${count(item.events - last)} more) ›`) : null)),
  ].filter(Boolean);
}

// MARK: Health

function health(place, page) {
  const { listing } = page;
  const facts = { path: listing.path, store: listing.store, created: time(listing.created),
    "model versions": listing.models.join(", "), events: count(listing.log.events),
    transactions: count(listing.log.transactions), "free for later saves": size(listing.reclaimableBytes),
    "large values": `${counted(listing.blobs.files, "file")}, ${size(listing.blobs.bytes)}` };
  return [el("h1", {}, "Health"),
    el("dl", { class: "facts" }, Object.entries(facts).map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)])),
    el("h2", {}, "Files"), table(["file", "size", "what it is"], listing.files.map((file) =>
      [file.path, file.bytes === undefined ? "not there" : size(file.bytes), file.purpose]), { label: "Files" }),
    el("h2", {}, "Tables"), table(["table", "entries", "size", ""], listing.tables.map((item) =>
      [item.name, number(item.entries), size(item.bytes), item.view ? "view" : ""]), { label: "Tables" }),
    el("h2", {}, "Indexes"), table(["index", "entries", "keys", ""], listing.indexes.map((index) =>
      [`${index.entity ? index.entity + "." : ""}${index.name}`, number(index.entries), size(index.bytes),
        index.unique ? "unique" : ""]), { label: "Indexes" }),
    el("h2", {}, "Readers"), listing.readers.length ? table(["process", "state"], listing.readers.map((reader) =>
      [String(reader.process), reader.stale ? "stale: its process has ended" : reader.active ? "reading" : "idle"]),
    { label: "Readers" }) : el("p", { class: "nil" }, "No other process reads the store.")];
}
