// Asks for the page of the address while the browser still reads the other modules.
import { ask, askForDocument, here, to } from "./address.js";

const asked = new Map();

function keep(address, answer) {
  // The failure is reported to the module that takes the answer.
  answer.catch(() => {});
  asked.set(address, answer);
}

/** The answer of an address that was asked for early, once; nil for others. */
export function early(address) {
  const answer = asked.get(address);
  asked.delete(address);
  return answer;
}

const { store, page } = here();
keep(location.pathname + location.search, ask(location.pathname + location.search));
if (store) keep(to(["timeline"]), ask(to(["timeline"])));
if (store && page === "model") keep(to(["model.svg"]), askForDocument(to(["model.svg"])));
