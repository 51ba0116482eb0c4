// Completes what is typed in a field, as a combobox.
import { el } from "./dom.js";
import { ask, here, to } from "./address.js";

/** The properties of the table's entity that the end of a text may become. */
const properties = (text, signal) => ask(to(["names", here().parts[0]], { text }), signal);

/** The objects of an entity that have the typed words in a text. */
export const objectsOf = (entity) => async (text, signal) => {
  const page = await ask(to(["find", entity], { text }), signal);
  return page.error ? page : { replaced: text,
    names: page.objects.map(({ object, label }) => ({ path: object, type: label.slice(object.length).trim() })) };
};

/** Adds a list of names to a field, which goes after the field. `find` returns the names for a text, and its end that they replace. */
export function completion(input, find = properties) {
  const id = `${input.id}-names`;
  const list = el("ul", { class: "completion", role: "listbox", id, "aria-label": "Names", hidden: true });
  for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": id })) {
    input.setAttribute(name, value);
  }
  let request = null;
  let names = [];
  let replaced = "";
  let chosen = -1;

  function close() {
    request?.abort();
    list.hidden = true;
    chosen = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function choose(index) {
    chosen = index;
    for (const [place, option] of [...list.children].entries()) option.setAttribute("aria-selected", String(place === index));
    if (index < 0) return input.removeAttribute("aria-activedescendant");
    input.setAttribute("aria-activedescendant", `${id}-${index}`);
    list.children[index].scrollIntoView({ block: "nearest" });
  }

  function take(index) {
    const end = input.selectionStart;
    input.setRangeText(names[index].path, end - replaced.length, end, "end");
    close();
    input.focus();
  }

  async function complete() {
    request?.abort();
    const own = request = new AbortController();
    const text = input.value.slice(0, input.selectionStart);
    try {
      const page = await find(text, own.signal);
      if (own !== request || page.error || document.activeElement !== input) return close();
      ({ names, replaced } = page);
      // A name that is already whole needs no list.
      if (!replaced || !names.length || names.length === 1 && names[0].path === replaced) return close();
      list.replaceChildren(...names.map((name, index) => el("li", { role: "option", id: `${id}-${index}`, "aria-selected": "false",
        mousedown: (event) => { event.preventDefault(); take(index); } },
      name.path, " ", el("span", { class: "nil" }, name.type ?? ""))));
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
      choose(-1);
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  }

  input.addEventListener("input", complete);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === " " && event.ctrlKey) complete();
    else if (list.hidden) return;
    else if (event.key === "ArrowDown") choose((chosen + 1) % names.length);
    else if (event.key === "ArrowUp") choose((chosen <= 0 ? names.length : chosen) - 1);
    else if ((event.key === "Enter" || event.key === "Tab") && chosen >= 0) take(chosen);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  return list;
}
