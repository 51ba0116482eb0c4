// The front end: shows the page of the address, moves through time, and follows the store.
import { el, counted, harmless } from "./dom.js";
import { ask, here, to, changed } from "./address.js";
import { render } from "./pages.js";
import { begin } from "./change.js";
import { isInUse, leave, redraw } from "./keeping.js";
import { early } from "./early.js";
import { patch } from "./patch.js";
import { goTo, keepPlace, wait } from "./history.js";
import { Feed } from "./live.js";
import "./timeline.js";

const main = document.getElementById("page");
const status = document.getElementById("status");
const sections = document.getElementById("sections");
const timeline = document.querySelector("strata-timeline");

let request = null;
// `hasLine` says whether the timeline that is shown is of this store, `isLineOld` whether transactions came in after it.
let known = { store: null, newest: 0, hasLine: false, isLineOld: false };
let feed = null;
// The address that the page shows, the last transaction in it, and whether it is not what the browser's address asks for;
// how many transactions came in after it, which wait for a person.
let shown = { address: null, newest: 0, isOld: false };
let waiting = 0;

/** Shows the page of the address, and the timeline when it has come: of many transactions it takes longer. */
async function show() {
  request?.abort();
  const own = request = new AbortController();
  const place = here();
  setBusy(true);
  const needsLine = place.store && (known.store !== place.store || !known.hasLine || known.isLineOld);
  const answer = (address) => early(address) ?? ask(address, own.signal);
  const asked = needsLine ? answer(to(["timeline"])) : null;
  // Without a page nobody looks at it; then its failure is no news.
  asked?.catch(() => {});
  try {
    const page = await comparable(await answer(location.pathname + location.search), answer);
    if (own !== request) return;
    draw(place, page);
    setBusy(false);
    if (page.error && !page.moment && known.hasLine) await drawMoment(own);
    if (!asked) return;
    const line = await asked;
    if (own !== request) return;
    if (line.error) timeline.wait(null);
    else drawLine(line, page.moment ?? line.moment);
  } catch (error) {
    if (error.name === "AbortError") return;
    if (!known.hasLine) timeline.wait(null);
    lose(`Studio does not answer: ${error.message}`);
    // What a person has begun on the page stays.
    const isHere = shown.address === location.pathname;
    if (!isHere) main.replaceChildren(unanswered());
    shown = { ...shown, address: isHere ? shown.address : null, isOld: true };
  } finally {
    if (own === request) setBusy(false);
  }
}

/** The page itself, if it is only the moment to compare with that is wrong; the field for it shows the mistake. */
async function comparable(page, answer) {
  if (page.error?.field !== "with") return page;
  return { ...await answer(changed({ with: null })), mistake: page.error };
}

let delay = 0;

/** Says whether a page is awaited; what is shown fades where that takes longer than a step of the slider should. */
function setBusy(isBusy) {
  clearTimeout(delay);
  main.toggleAttribute("data-late", false);
  if (!isBusy) return main.removeAttribute("aria-busy");
  main.setAttribute("aria-busy", "true");
  delay = setTimeout(() => main.toggleAttribute("data-late", true), 150);
}

/** In place of a page that has not come. */
const unanswered = () => el("div", { class: "problem" }, el("h1", {}, "Studio does not answer"),
  el("p", {}, el("button", { type: "button", id: "again", click: show }, "Ask again")));

function draw(place, page) {
  lost.hidden = true;
  if (place.store !== known.store || feed?.isEnded) follow(place.store);
  if (place.store !== known.store) {
    known = { store: place.store, newest: 0, hasLine: false, isLineOld: false };
    timeline.wait(place.store);
  }
  if (page.moment) {
    known.newest = Math.max(known.newest, page.moment.newest);
    if (known.hasLine) timeline.show(null, page.moment);
  }
  drawSections(place);
  const address = location.pathname;
  const parts = render(place, page, navigate);
  const children = [page.moment?.isGone ? gone() : null, isLocked(page) ? locked() : null, ...parts].filter(Boolean);
  if (shown.address === address) redraw(main, children);
  else {
    leave();
    main.replaceChildren();
    patch(main, children);
  }
  shown = { address, newest: page.moment?.newest ?? known.newest, isOld: false };
  waiting = 0;
  const title = harmless([main.querySelector("h1")?.textContent, place.store, "Strata Studio"].filter(Boolean).join(" · "));
  if (document.title !== title) document.title = title;
}

/** The store's files are not where they were. */
const gone = () => el("p", { class: "note", id: "gone", role: "alert" }, "The store is no longer where it was: it was moved, "
  + "deleted or replaced. This is what was open. Start Studio again to see what is there now.");

/** Whether a value of the page shows as encrypted. */
const isLocked = (data) => data !== null && typeof data === "object"
  && (data.kind === "encrypted" || Object.values(data).some(isLocked));

/** Values of the page are encrypted under a key that Studio was not given, perhaps since a rotation. */
const locked = () => el("p", { class: "note", id: "locked" }, "Values that show as (encrypted) are under a key that Studio does "
  + "not have. Start Studio again with it: --key-file. Give two keys, the newest first, where the store has a new one and its "
  + "history is under a former one.");

/** The moment of a page that cannot be shown, which may be what is wrong with it. */
async function drawMoment(own) {
  const line = await ask(to(["timeline"], { parts: 1 }), own.signal);
  if (own !== request) return;
  if (line.error) timeline.lose(here().query.get("at"));
  else timeline.show(null, line.moment);
}

function drawLine(line, moment) {
  [known.hasLine, known.isLineOld] = [true, false];
  known.newest = Math.max(known.newest, line.moment.newest);
  timeline.show(line, moment);
}

function drawSections(place) {
  const names = { model: "Model", transactions: "Transactions", health: "Health" };
  const isIn = { objects: "model", object: "model", transaction: "transactions" };
  patch(sections, place.store ? Object.entries(names).map(([page, name]) =>
    el("a", { href: to([page]), "aria-current": (isIn[place.page] ?? place.page) === page ? "page" : null }, name)) : []);
}

/** Goes to an address of Studio; by replacing the entry of the history if it is only a step of a movement. */
function navigate(address, { replaces = false } = {}) {
  const isPage = new URL(address, location.href).pathname !== location.pathname;
  // A link in a dialog leaves it.
  if (isPage) document.querySelector("dialog[open]")?.close();
  goTo(address, replaces);
  if (isPage) scrollTo(0, 0);
  return show().then(() => { if (isPage) main.focus({ preventScroll: true }); });
}

// MARK: Time

let isMoving = false;
// The last step of a movement that the history has no room for yet.
let step = null;

timeline.addEventListener("move", ({ detail }) => {
  timeline.isAhead = step !== null;
  step = detail;
  if (timeline.isAhead) return;
  const pause = wait();
  if (!pause) return move();
  timeline.isAhead = true;
  setTimeout(move, pause);
});

timeline.addEventListener("jump", async ({ detail }) => {
  if (!detail) return timeline.newest();
  const place = location.pathname;
  try {
    const { error } = await ask(to(["timeline"], { at: detail, parts: 1 }), null);
    if (location.pathname !== place) return;
    if (error) timeline.refuse(error.message);
    else timeline.jump(detail);
  } catch (error) {
    lose(`Studio does not answer: ${error.message}`);
  }
});

timeline.addEventListener("rest", () => { isMoving = false; });

function move() {
  const { at, isFinal } = step;
  step = null;
  timeline.isAhead = false;
  // A movement makes one entry of the history, and its steps replace it.
  navigate(changed({ at, offset: null, before: null }), { replaces: isMoving });
  isMoving = !isFinal;
  status.textContent = isFinal ? `Transaction ${at ?? known.newest}` : "";
}

const lost = document.getElementById("lost");

/** Follows a store while the page is visible. */
function follow(store) {
  feed?.close();
  feed = null;
  if (!store) lost.hidden = true;
  if (!store || document.hidden) return;
  feed = new Feed(store, {
    newest: arrived,
    open: () => {
      lost.hidden = true;
      if (shown.isOld) show();
    },
    lost: () => lose("Studio does not answer. This page shows nothing new until it does."),
    ended: () => lose("Studio has ended or does not know this browser any more. This page shows nothing new. Open the address that "
      + "Studio printed, and come back."),
  });
}

function lose(text) {
  lost.textContent = text;
  lost.hidden = false;
}

let arrival = 0;

/** Transactions have come in. The page changes only if it shows the newest state. */
function arrived(newest) {
  if (newest <= known.newest) return;
  known.newest = newest;
  clearTimeout(arrival);
  arrival = setTimeout(() => (here().query.get("at") ? drawNews() : catchUp()), 200);
}

/** Shows what has come in on the timeline, beside a page of the past. */
async function drawNews() {
  const { store } = here();
  try {
    const line = await ask(to(["timeline"]), null);
    if (store === here().store && !line.error) drawLine(line, line.moment);
  } catch (error) {
    lose(`Studio does not answer: ${error.message}`);
  }
}

/** Shows the newest state; while a person is at work on the page, only says that there is one. */
async function catchUp() {
  known.isLineOld = true;
  if (isInUse(main)) return announceNews();
  await show();
  status.textContent = `Transaction ${known.newest} has come in.`;
}

/** A button for what has come in since the page was drawn. */
function announceNews() {
  waiting = known.newest - shown.newest;
  const text = `${counted(waiting, "new transaction")}: show`;
  const button = document.getElementById("news");
  if (button) button.textContent = text;
  else main.append(el("p", { class: "news" }, el("button", { type: "button", id: "news", click: show }, text)));
  status.textContent = `${counted(waiting, "new transaction")}.`;
}

/** What a person was at may be done: then the news that waits is shown. */
function settle() {
  if (waiting && !main.hasAttribute("aria-busy") && !here().query.get("at") && !isInUse(main)) show();
}

for (const event of ["click", "input", "focusout", "close"]) document.addEventListener(event, () => setTimeout(settle), true);

document.addEventListener("visibilitychange", () => follow(here().store));

// MARK: Links and keys

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const url = new URL(link.href.baseVal ?? link.href, location.href);
  if (url.origin !== location.origin || url.hash || link.hasAttribute("download")) return;
  const page = url.pathname.split("/")[2];
  if (["value", "model.svg", "export"].includes(page) || url.pathname.endsWith(".json") || url.pathname.startsWith("/-/")) return;
  event.preventDefault();
  navigate(url.pathname + url.search);
});

document.addEventListener("keydown", (event) => {
  if (event.metaKey || event.ctrlKey || event.altKey || event.target.matches("input, textarea, select")) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "[") timeline.step(-1);
  else if (event.key === "]") timeline.step(1);
  else if (event.key === "0") timeline.newest();
  else if (event.key === "/") {
    const field = main.querySelector("input[type=search], input");
    if (!field) return;
    event.preventDefault();
    field.focus();
  }
});

begin(navigate, (text) => { status.textContent = text; });
// Content comes later than the browser would scroll, so each entry of the history has its place of scrolling.
history.scrollRestoration = "manual";
const showAgain = async () => {
  // The browser itself goes to a part of a page.
  const top = location.hash ? null : history.state?.top ?? 0;
  await show();
  if (top !== null) scrollTo(0, top);
};
let scrolling = 0;
addEventListener("scroll", () => {
  clearTimeout(scrolling);
  scrolling = setTimeout(keepPlace, 250);
});
addEventListener("pagehide", keepPlace);
addEventListener("popstate", showAgain);
showAgain();
