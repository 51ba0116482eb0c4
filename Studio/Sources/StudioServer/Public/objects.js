// The table of an entity's objects.
import { el, svg, count, counted } from "./dom.js";
import { ask, here, to, changed } from "./address.js";
import { value, objectLink, wholeValue } from "./values.js";
import { table, field, problem } from "./parts.js";
import { completion } from "./completion.js";

/** The columns of an entity are kept, so that a wrong filter can still be corrected by name. */
const available = new Map();

/** A filter, an order and columns, what they find, and the plan. */
export function objects(place, page, navigate) {
  const entity = place.parts[0];
  const { query } = place;
  if (page.available) available.set(entity, page.available);
  const go = (parameters) => navigate(changed({ offset: null, ...parameters }));
  // Without an entity there is nothing to filter.
  if (page.error && (page.error.field === "entity" || place.parts.length !== 1)) return [problem(page.error)];
  const isOfForm = ["where", "sort", "columns"].includes(page.error?.field);
  return [
    el("h1", {}, entity),
    form(query, page.error, available.get(entity) ?? [], go),
    ...page.error ? [isOfForm ? null : problem(page.error)].filter(Boolean)
      : [el("p", { class: "sub", id: "counts" }, summary(page)), absent(page), ...grid(page), pager(page), plan(page)].filter(Boolean)];
}

function form(query, error, columns, go) {
  const part = (name, label, hint) => field(name, label, { value: query.get(name) ?? "", placeholder: hint,
    type: name === "where" ? "search" : "text", spellcheck: "false", autocapitalize: "off" }, error, completion);
  const hints = examples(columns);
  const where = part("where", "Filter", hints.where);
  const input = where.querySelector("input");
  return el("form", { class: "filter", role: "search", submit: (event) => {
    event.preventDefault();
    const data = new FormData(event.target);
    go({ where: data.get("where"), sort: data.get("sort"), columns: data.get("columns") });
  } },
    where, part("sort", "Sort", hints.sort), part("columns", "Columns", hints.columns),
    el("button", { type: "submit" }, "Show"),
    facets(query, columns, go),
    columns.length ? el("details", { class: "properties" }, el("summary", {}, "Properties"),
      el("ul", {}, columns.map((column) => el("li", {}, el("button", { type: "button", title: column.type, click: () => {
        input.setRangeText(column.name, input.selectionStart, input.selectionEnd, "end");
        input.focus();
      } }, column.name))))) : null,
    el("a", { class: "plain", href: changed({ explain: query.get("explain") ? null : 1 }) },
      query.get("explain") ? "Hide the plan" : "Explain"),
    el("a", { class: "plain", id: "csv", href: exported(query, "csv"), download: true }, "CSV"),
    el("a", { class: "plain", id: "json", href: exported(query, "json"), download: true }, "JSON"));
}

/** What may be typed, with properties of the entity. */
function examples(columns) {
  if (!columns.length) return { where: 'rating > 4 AND name CONTAINS[cd] "al"', sort: "-rating, name", columns: "all, or: name, genres.@count" };
  const amount = columns.find((column) => /integer|decimal|double|float/.test(column.type))?.name;
  const text = columns.find((column) => column.type === "string")?.name;
  const many = columns.find((column) => column.type?.startsWith("to-many"))?.name;
  const some = (list, separator) => list.filter(Boolean).join(separator);
  return { where: some([amount && `${amount} > 4`, text && `${text} CONTAINS[cd] "al"`], " AND "),
    sort: some([amount && `-${amount}`, text], ", "), columns: some(["all, or: " + (text ?? amount ?? "SELF"), many && `${many}.@count`], ", ") };
}

/** The address of the whole table as a file. */
const exported = (query, format) => to(["export", here().parts[0]], { where: query.get("where"), sort: query.get("sort"),
  columns: query.get("columns"), only: query.get("only"), as: format });

/** The most frequent values of a property and ranges of it, on request; each narrows the filter to its objects. */
function facets(query, columns, go) {
  const single = columns.filter((column) => column.type && !column.type.startsWith("to-many"));
  if (!single.length) return null;
  const list = el("div", { class: "values", "aria-live": "polite" });
  const entity = here().parts[0];
  const where = query.get("where");
  const narrow = (condition, ...text) => condition ? el("button", { type: "button",
    click: () => go({ where: where ? `(${where}) AND ${condition}` : condition }) }, ...text) : text;
  let request = null;
  const show = async (name, button, isAgain = false) => {
    for (const other of button.closest("ul").querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === button));
    request?.abort();
    const own = request = new AbortController();
    const page = await ask(to(["facet", entity, name], { where, only: query.get("only") }), own.signal)
      .catch((error) => ({ error: { message: `Studio does not answer: ${error.message}` } }));
    // Another property was chosen meanwhile, or what is being used would be taken away for a later count.
    if (own !== request || isAgain && list.contains(document.activeElement)) return;
    if (page.error) return list.replaceChildren(el("p", { class: "problem" }, page.error.message));
    list.replaceChildren(page.ranges.length ? histogram(page.ranges, narrow) : "",
      el("ul", {}, page.parts.map((part) => el("li", {}, narrow(part.condition, part.value.object ? el("bdi", {}, part.value.text) : value(part.value)),
        ` ${count(part.count)}`)),
        page.isCut ? el("li", { class: "nil" }, "and more") : null));
  };
  return el("details", { class: "properties", id: "facets", "data-kept": `facets ${location.search}`,
    toggle: (event) => event.currentTarget.toggleAttribute("data-begun", event.currentTarget.open),
    kept: (event) => {
      const button = event.currentTarget.querySelector("[aria-pressed=true]");
      if (button) show(button.textContent, button, true);
    } }, el("summary", {}, "Values"),
    el("ul", {}, single.map((column) => el("li", {}, el("button", { type: "button", "aria-pressed": "false",
      click: (event) => show(column.name, event.currentTarget) }, column.name)))), list);
}

/** A bar for each range; an empty range keeps its place. */
function histogram(ranges, narrow) {
  const most = Math.max(...ranges.map((range) => range.count), 1);
  const short = (text) => text.replace("T00:00:00Z", "").replace("T00:00:00.000Z", "");
  return el("ol", { class: "histogram" }, ranges.map((range) => el("li", {},
    narrow(range.count ? range.condition : null,
      svg("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
        svg("rect", { width: range.count ? Math.max(range.count / most * 100, 1) : 0, height: 8, class: "bar" })),
      el("span", {}, `${short(range.from.text)} – ${short(range.to.text)}`)),
    el("span", { class: "nil" }, ` ${count(range.count)}`))));
}

function summary(page) {
  const last = page.offset + page.rows.length;
  if (page.rows.length === 0 && page.count) return `The last of ${counted(page.count, "object")} is before this page.`;
  if (page.rows.length === 0) return page.total ? `None of ${counted(page.total, "object")} meets this.` : "There are no objects.";
  return `${count(page.offset + 1)} to ${count(last)} of ${counted(page.count, "object")}`
    + (page.count < page.total ? `, ${count(page.total)} without the filter` : "");
}

/** What the address asks for and the model of the moment does not have. */
const absent = (page) => page.absent.length
  ? el("p", { class: "note", id: "absent" }, `Not in the model at this moment: ${page.absent.join(", ")}`) : null;

function grid(page) {
  const { sort } = page;
  const names = page.columns.map((column) => column.name);
  const head = (column, index) => {
    const isSortable = column.type && !column.type.startsWith("to-many");
    const state = sort === column.name ? "ascending" : sort === "-" + column.name ? "descending" : null;
    // The head of a column with numbers is on their side of it.
    const isAmount = page.rows.some((row) => row.cells[index]?.kind === "number");
    return el("th", { scope: "col", class: isAmount ? "amount" : null, "aria-sort": state, title: column.type }, isSortable
      ? el("a", { href: changed({ sort: state === "ascending" ? "-" + column.name : column.name, offset: null }),
        id: `sort-${column.name}` }, column.name, state ? (state === "ascending" ? " ↑" : " ↓") : "")
      : column.name);
  };
  return [table([el("th", { scope: "col" }, "object"), ...page.columns.map(head)], page.rows.map((row) => ({ entry: row.object, data: [row, names], cells: () => [
    objectLink(row.object, row.object),
    ...row.cells.map((cell, index) => value(cell, () => wholeValue(row.object, names[index])))] })),
  { label: "Objects" })];
}

function pager(page) {
  const last = page.offset + page.rows.length;
  return el("nav", { class: "pager", "aria-label": "Pages" },
    page.offset > 0 ? el("a", { id: "earlier", href: changed({ offset: Math.max(0, Math.min(page.offset, page.count) - page.limit) || null }) }, "‹ Previous") : null,
    last < page.count ? el("a", { id: "later", href: changed({ offset: last }) }, "Next ›") : null);
}

const plan = (page) => page.plan
  ? el("section", {}, el("h2", {}, "Plan"), el("pre", { class: "plan", tabindex: 0 }, page.plan)) : null;
