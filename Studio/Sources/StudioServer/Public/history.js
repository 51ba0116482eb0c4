// Changes the history of the browser.

// Browsers ignore what is more than 200 changes in ten seconds, and a slider makes more.
const span = 10_000;
const free = 60;
const pause = 200;
let times = [];

/** How long the next change must wait, in milliseconds, so that it is not ignored. */
export function wait() {
  const now = performance.now();
  times = times.filter((time) => time > now - span);
  return times.length < free ? 0 : Math.max(0, times.at(-1) + pause - now);
}

/** Keeps how far the page is scrolled in its entry. */
export function keepPlace() {
  times.push(performance.now());
  history.replaceState({ top: scrollY }, "");
}

/** Goes to another address, in place of this entry or after it. */
export function goTo(address, replaces) {
  if (!replaces) keepPlace();
  times.push(performance.now());
  history[replaces ? "replaceState" : "pushState"](null, "", address);
}
