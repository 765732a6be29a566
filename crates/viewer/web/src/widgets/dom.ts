// Helpers for elements, messages and saved files.

type Child = Node | string;

/** Creates an element with attributes and children; text is never interpreted as markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** An element of the page that always exists. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/** A list of terms and descriptions; terms without text are omitted. */
export function facts(
  rows: readonly (readonly [term: string, text: string])[],
  attributes: Record<string, string> = {},
): HTMLElement {
  const list = element("dl", attributes);
  for (const [term, text] of rows) if (text !== "") list.append(element("dt", {}, term), element("dd", {}, text));
  return list;
}

/** A message for an empty state. */
export function note(text: string): HTMLElement {
  return element("p", { class: "note" }, text);
}

/** An error message. */
export function failure(error: unknown): HTMLElement {
  return element("p", { class: "error" }, error instanceof Error ? error.message : String(error));
}

/** Lets the browser save a file. */
export function saveFile(name: string, parts: BlobPart[], type: string): void {
  const link = element("a", { download: name });
  link.href = URL.createObjectURL(new Blob(parts, { type }));
  link.click();
  URL.revokeObjectURL(link.href);
}

/** A field for a text to search for. */
export function searchField(label: string, placeholder = label): HTMLInputElement {
  return element("input", { type: "search", placeholder, "aria-label": label, spellcheck: "false" });
}

/** A labeled list of values and texts, of which one is chosen. */
export function selector(
  label: string,
  options: readonly (readonly [value: string, text: string])[],
  chosen: string,
  choose: (value: string) => void,
): HTMLElement {
  const made = element("select", { "aria-label": label });
  for (const [value, text] of options) {
    const option = element("option", { value }, text);
    option.selected = value === chosen;
    made.append(option);
  }
  made.addEventListener("change", () => choose(made.value));
  return element("label", {}, `${label} `, made);
}

export interface Choice<T extends string> {
  id: T;
  title: string;
  hint?: string;
  isDisabled?: boolean;
}

/** Buttons of which one is pressed; arrows move between them. */
export function switcher<T extends string>(
  label: string,
  choices: Choice<T>[],
  chosen: T,
  choose: (id: T) => void,
): HTMLElement {
  const host = element("div", { class: "switch", role: "radiogroup", "aria-label": label });
  const buttons = choices.map((choice) => {
    const button = element("button", { role: "radio", type: "button", "data-choice": choice.id }, choice.title);
    if (choice.hint) button.title = choice.hint;
    button.disabled = choice.isDisabled ?? false;
    button.addEventListener("click", () => press(choice.id));
    return button;
  });
  const mark = (id: T): void =>
    buttons.forEach((button) => {
      const isOn = button.dataset["choice"] === id;
      button.setAttribute("aria-checked", String(isOn));
      button.tabIndex = isOn ? 0 : -1;
    });
  const press = (id: T): void => {
    mark(id);
    choose(id);
  };
  host.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    event.stopPropagation();
    event.preventDefault();
    const usable = buttons.filter((button) => !button.disabled);
    const at = usable.findIndex((button) => button === document.activeElement);
    const next = usable[(at + by + usable.length) % usable.length];
    next?.focus();
    if (next) press(next.dataset["choice"] as T);
  });
  mark(chosen);
  host.append(...buttons);
  return host;
}
