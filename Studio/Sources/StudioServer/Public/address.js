// Addresses of pages: /STORE/PAGE/… with the moment in `at`.

/** The answer of a page as JSON; problems have the same form. */
export async function ask(address, signal) {
  const answer = await fetch(address, { headers: { Accept: "application/json" }, signal });
  return answer.json();
}

/** A document such as a drawing, which comes by itself so that nothing here reads markup; nil if it does not come. */
export const askForDocument = (address, signal) => new Promise((resolve) => {
  const load = new XMLHttpRequest();
  load.open("GET", address);
  load.responseType = "document";
  load.onloadend = () => resolve(load.status === 200 ? load.responseXML?.documentElement : null);
  signal?.addEventListener("abort", () => load.abort());
  load.send();
});

let known = { address: null, place: null };

/** The page that the browser shows. */
export function here() {
  const address = location.pathname + location.search;
  if (known.address !== address) known = { address, place: place() };
  return known.place;
}

function place() {
  const parts = location.pathname.split("/").filter(Boolean).map(decodeURIComponent);
  return { store: parts[0], page: parts[1] ?? (parts.length ? "model" : "stores"), parts: parts.slice(2),
    query: new URLSearchParams(location.search) };
}

/** The address of a page of this store at the moment that is shown; parameters that are empty are left out. */
export function to(parts, parameters = {}) {
  const { store, query } = here();
  const all = { at: query.get("at"), ...parameters };
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(all)) {
    if (value !== undefined && value !== null && value !== "") search.set(name, value);
  }
  const path = [store, ...parts].map(encodeURIComponent).join("/");
  return `/${path}${search.size ? "?" + search : ""}`;
}

/** The address of an object such as `Film/p5`. */
export const toObject = (reference, parameters) => to(["object", ...reference.split("/")], parameters);

/** This page with other parameters. */
export function changed(parameters) {
  const search = new URLSearchParams(here().query);
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === null || value === "") search.delete(name);
    else search.set(name, value);
  }
  return `${location.pathname}${search.size ? "?" + search : ""}`;
}
