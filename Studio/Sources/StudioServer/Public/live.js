// Follows a store with server-sent events.
//
// A browser opens few connections to a server, so of all its pages that show a store one asks, and tells the others.

/**
 * What comes in while a page shows a store. `listener` has a function for each message: `newest` with a transaction, `open`,
 * `lost` when the server does not answer, and `ended` when it does not know this browser any more.
 */
export class Feed {
  /** Whether the server has refused to go on. */
  isEnded = false;
  #listener;
  #channel;
  #leave = new AbortController();
  #isAsking = false;
  // The last messages, for a page that comes later.
  #last = {};

  constructor(store, listener) {
    const name = `live ${store}`;
    this.#listener = listener;
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({ data }) => data.isNew ? this.#greet() : this.#hear(data);
    this.#channel.postMessage({ isNew: true });
    // Locks are only there on a secure connection or on this machine.
    if (!navigator.locks) return void this.#ask(store);
    navigator.locks.request(name, { signal: this.#leave.signal }, () => this.#ask(store))
      .catch((error) => { if (error.name !== "AbortError") throw error; });
  }

  close() {
    this.#leave.abort();
    this.#channel.close();
  }

  /** Asks the server until the page leaves or is refused. Then another page does. */
  #ask(store) {
    return new Promise((resolve) => {
      const source = new EventSource(`/${encodeURIComponent(store)}/live`);
      this.#isAsking = true;
      source.onmessage = ({ data }) => this.#tell({ newest: Number(data) });
      source.onopen = () => this.#tell({ state: "open" });
      const end = () => {
        source.close();
        this.#isAsking = false;
        resolve();
      };
      source.onerror = () => {
        const isEnded = source.readyState === EventSource.CLOSED;
        this.#tell({ state: isEnded ? "ended" : "lost" });
        // A page that the server knows again may ask.
        if (isEnded) end();
      };
      this.#leave.signal.addEventListener("abort", end);
    });
  }

  #tell(message) {
    if (this.#leave.signal.aborted) return;
    this.#last = { ...this.#last, ...message };
    this.#channel.postMessage(message);
    this.#hear(message);
  }

  #greet() {
    if (this.#isAsking) this.#channel.postMessage(this.#last);
  }

  #hear({ newest, state }) {
    if (state) this.isEnded = state === "ended";
    if (state) this.#listener[state]();
    if (newest !== undefined) this.#listener.newest(newest);
  }
}
