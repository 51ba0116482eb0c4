// The store's whole life as a slider: how many transactions there were when, by whom, with tags.
import { el, svg, count, harmless, utc } from "./dom.js";
import { here, to, changed } from "./address.js";

const height = 44;

/**
 * Announces `move` with `{ at, isFinal }`, where `at` is nil for the newest state, `rest` when playing ends, and `jump` with the
 * text of a moment that may be wrong.
 */
class Timeline extends HTMLElement {
  /** Whether the cursor stands on a moment that is asked for later: then answers do not move it. */
  isAhead = false;
  #page = null;
  #at = 0;
  #playing = 0;

  connectedCallback() {
    // What gets the focus is scrolled to where the timeline does not cover it.
    new ResizeObserver(() => {
      const isOver = getComputedStyle(this).position === "sticky";
      document.documentElement.style.scrollPaddingTop = isOver ? `${this.offsetHeight + 8}px` : "";
    }).observe(this);
  }

  /** Keeps the place of a store's timeline until it has come; without a store there is none. */
  wait(store) {
    if (this.#playing) this.#toggle();
    this.#page = null;
    this.replaceChildren();
    this.hidden = !store;
    this.toggleAttribute("aria-busy", Boolean(store));
  }

  /** Shows another timeline, or the same at another moment. */
  show(page, moment) {
    this.#page = page ?? this.#page;
    if (!this.#page) return;
    this.hidden = false;
    this.removeAttribute("aria-busy");
    this.moment = moment;
    if (!this.isAhead) this.#at = moment.transaction;
    if (!this.firstChild) this.#build();
    if (page || !this.picture.firstChild) this.#fill();
    this.#update();
  }

  /** Says that the moment of the address cannot be shown. */
  lose(text) {
    if (!this.#page) return;
    this.text.replaceChildren(harmless(`There is no moment ${text}; the newest is transaction ${count(this.moment.newest)}`));
    this.slider.setAttribute("aria-valuetext", this.text.textContent);
  }

  /** Goes to the moment that was typed. */
  jump(at) { this.#send(at, true); }

  /** Says what is wrong with the moment that was typed; nil if nothing is. */
  refuse(text) {
    this.field.setAttribute("aria-invalid", String(Boolean(text)));
    if (text) this.field.setAttribute("aria-describedby", "at-problem");
    else this.field.removeAttribute("aria-describedby");
    this.mistake.replaceChildren(harmless(text ?? ""));
  }

  /** The first transaction that is kept. */
  get #first() { return Math.max(1, this.#page.first); }

  /** What shows the log. The controls stay as they are: someone may be typing or dragging. */
  #fill() {
    const { parts, authors, tags, start, end } = this.#page;
    const width = Math.max(parts.length, 1) * 4;
    const most = Math.max(1, ...parts.map((part) => part.count));
    const bars = parts.flatMap((part, index) => {
      let y = height;
      return part.authors.map(([author, number]) => {
        // A square root lets small parts be seen beside an import.
        const tall = Math.sqrt(part.count / most) * (height - 6) * (number / part.count);
        y -= tall;
        return svg("rect", { x: index * 4, y, width: 3, height: Math.max(tall, 0.5), class: `author${author}` });
      });
    });
    // The picture is stretched, and the width of a line is not.
    const marks = tags.map((tag) => svg("g", { class: "tag" }, svg("path", { d: `M${this.#x(tag.transaction)} 0 v${height}` }),
      svg("path", { class: "head", d: `M${this.#x(tag.transaction)} 0 v7` }),
      svg("title", {}, `${tag.name} (transaction ${tag.transaction})`)));
    this.cursor = svg("line", { y1: 0, y2: height, class: "cursor" });
    this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.picture.replaceChildren(...bars, ...marks, this.cursor);
    this.axis.replaceChildren(el("span", {}, utc(start)), el("span", {}, utc(end)));
    for (const [name, text] of [["min", start], ["max", end]]) if (text) this.day.setAttribute(name, text.slice(0, 10));
    this.authors.replaceChildren(...authors.map((author, index) => el("li", {},
      svg("svg", { class: "swatch", viewBox: "0 0 8 8", "aria-hidden": "true" },
        svg("rect", { width: 8, height: 8, class: `author${index}` })),
      author.name && index < 7
        ? el("a", { href: to(["transactions"], { author: author.name }) }, el("bdi", {}, author.name))
        : author.name ?? "no author", ` ${count(author.count)}`)));
    this.tags.replaceChildren(...tags.map((tag) => el("li", {},
      el("a", { href: changed({ at: tag.transaction }) }, el("bdi", {}, tag.name)))));
  }

  #build() {
    this.picture = svg("svg", { preserveAspectRatio: "none", "aria-hidden": "true" });
    this.axis = el("div", { class: "axis", "aria-hidden": "true" });
    this.authors = el("ul", { class: "authors", "aria-label": "Authors" });
    this.tags = el("ul", { class: "tags", "aria-label": "Tags" });
    this.slider = el("div", { class: "slider", role: "slider", tabindex: 0, id: "slider",
      "aria-label": "Moment of the store", keydown: (event) => this.#key(event),
      pointerdown: (event) => this.#drag(event) }, this.picture);
    const button = (id, label, text, press) =>
      el("button", { type: "button", id, "aria-label": label, title: label, click: press }, text);
    this.play = button("play", "Play", "▶", () => this.#toggle());
    this.text = el("p", { class: "moment", id: "moment" });
    this.mistake = el("p", { class: "problem", id: "at-problem", role: "alert" });
    const field = this.field = el("input", { id: "at", name: "at", "aria-label": "Go to a transaction, a tag or a date",
      placeholder: "12, a tag, 2026-11-21", autocomplete: "off" });
    const day = this.day = el("input", { type: "date", id: "day", "aria-label": "Go to the end of a day (UTC)",
      title: "Go to the end of a day (UTC)",
      change: () => { if (day.value) this.#send(`${day.value}T23:59:59.999Z`, true); } });
    this.replaceChildren(
      el("div", { class: "controls" },
        button("first", "First transaction", "|◂", () => this.#go(0, true)),
        button("previous", "Previous transaction ( [ )", "◂", () => this.step(-1)),
        this.play,
        button("next", "Next transaction ( ] )", "▸", () => this.step(1)),
        button("newest", "Newest state, and follow ( 0 )", "▸|", () => this.#send(null, true)),
        el("form", { class: "jump", submit: (event) => {
          event.preventDefault();
          this.dispatchEvent(new CustomEvent("jump", { detail: field.value.trim() }));
        } }, field), day),
      this.mistake,
      this.slider, this.axis, this.text, this.authors, this.tags);
  }

  /** Moves the cursor at once; the text follows with the answer. */
  #place() {
    const x = this.#x(this.#at);
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    this.slider.setAttribute("aria-valuenow", this.#at);
  }

  #update() {
    const { moment, slider } = this;
    this.#place();
    const at = moment.transaction;
    this.refuse(null);
    slider.setAttribute("aria-valuemin", Math.min(this.#first, at));
    slider.setAttribute("aria-valuemax", moment.newest);
    const who = [moment.author, moment.reason && `“${moment.reason}”`].filter(Boolean).join(" ");
    slider.setAttribute("aria-valuetext", harmless(`Transaction ${at} of ${moment.newest}, ${moment.time ?? ""} ${who}`));
    this.text.replaceChildren(
      at ? el("a", { href: to(["transaction", at]) }, `Transaction ${count(at)}`) : "Before the first transaction",
      ` of ${count(moment.newest)} `, moment.follows ? el("span", { class: "live" }, "newest, following") : "", " ",
      ...utc(moment.time), " ", moment.author ? el("bdi", { class: "author" }, moment.author) : "",
      " ", moment.reason ? el("bdi", { class: "reason" }, `“${moment.reason}”`) : "",
      ...moment.tags.flatMap((tag) => [" ", el("bdi", { class: "tag" }, tag)]));
  }

  // Inside a part, transactions are spread evenly; so each has a place of its own.

  #x(number) {
    const { parts } = this.#page;
    let index = parts.findIndex((part) => part.count && part.last >= number);
    if (index < 0) index = Math.max(parts.length - 1, 0);
    const part = parts[index];
    return part ? (index + Math.min(1, Math.max(0, (number - part.first + 1) / Math.max(part.count, 1)))) * 4 : 0;
  }

  #number(fraction) {
    const { parts } = this.#page;
    const place = Math.min(Math.max(fraction, 0), 1) * parts.length;
    const part = parts[Math.min(Math.floor(place), parts.length - 1)];
    if (!part) return this.#first;
    const inside = part.count ? Math.ceil((place - Math.floor(place)) * part.count) - 1 : 0;
    return Math.max(this.#first, Math.min(part.first + Math.max(inside, 0), part.last));
  }

  #drag(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    this.slider.focus();
    this.slider.setPointerCapture(event.pointerId);
    const box = this.slider.getBoundingClientRect();
    const move = (event) => this.#go(this.#number((event.clientX - box.left) / box.width), false);
    const drag = new AbortController();
    const end = () => {
      drag.abort();
      this.#go(this.#at, true);
    };
    move(event);
    // The system may take the pointer away, and then there is no `pointerup`.
    for (const [name, listener] of [["pointermove", move], ["pointerup", end], ["pointercancel", end]]) {
      this.slider.addEventListener(name, listener, { signal: drag.signal });
    }
  }

  #key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.round((this.moment.newest - this.#first) / 20));
    const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -page, PageUp: page };
    if (event.key in steps) this.step(steps[event.key]);
    else if (event.key === "Home") this.#go(0, true);
    else if (event.key === "End") this.#send(null, true);
    else if (event.key === " ") this.#toggle();
    else return;
    event.preventDefault();
  }

  /** Moves by transactions. */
  step(by) { this.#go(this.#at + by, true); }
  newest() { this.#send(null, true); }

  /** Goes to a transaction, or to the nearest that there is. */
  #go(number, isFinal) {
    if (!this.#page) return;
    const at = Math.min(Math.max(number, this.#first), this.moment.newest);
    if (at === this.#at && !isFinal) return;
    this.#at = at;
    this.#place();
    this.#send(at, isFinal);
  }

  #send(at, isFinal) { this.dispatchEvent(new CustomEvent("move", { detail: { at, isFinal } })); }

  #toggle() {
    if (this.#playing) {
      clearInterval(this.#playing);
      this.#playing = 0;
      this.dispatchEvent(new Event("rest"));
    } else {
      if (this.#at >= this.moment.newest) this.#go(0, true);
      this.#playing = setInterval(() => {
        if (this.#at >= this.moment.newest) return this.#toggle();
        this.#go(this.#at + 1, false);
      }, 600);
    }
    this.play.textContent = this.#playing ? "❚❚" : "▶";
    this.play.setAttribute("aria-label", this.#playing ? "Pause" : "Play");
  }
}

customElements.define("strata-timeline", Timeline);
