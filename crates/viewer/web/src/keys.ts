// Keyboard shortcuts.

import { element } from "./widgets/dom";

export interface Key {
  keys: string[];
  what: string;
  run(): void;
}

/** Mouse actions in the timeline. */
export const MOUSE: [string, string][] = [
  ["Ctrl + K", "commands: actions, panels, threads, names"],
  ["alt + ← and alt + →", "back and forward, as on any page"],
  ["wheel, pinch", "zoom"],
  ["drag", "move"],
  ["alt + wheel", "move"],
  ["shift + wheel", "scroll"],
  ["drag on the ruler", "select a time range"],
  ["shift + drag", "select a time range on some tracks"],
  ["click", "select a span and highlight its name"],
  ["double click", "zoom to the selection"],
  ["drag a name on the left", "move its track; alt + ↑ and alt + ↓ too"],
  ["↑ and ↓ on a name", "the name above or below; Enter folds"],
  ["alt + drag a heading", "move a trace on the axis"],
  ["double click a heading", "zoom to its file"],
];

/** The labels of keys on most keyboards. */
const WRITTEN: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
};

/** Shows all keys in a dialog. */
export function showKeys(dialog: HTMLDialogElement, keys: Key[], mouse: [string, string][]): void {
  const rows: [string[], string][] = [
    ...keys.map((key): [string[], string] => [key.keys, key.what]),
    ...mouse.map(([how, what]): [string[], string] => [[how], what]),
  ];
  const list = element("dl", { class: "keys" });
  for (const [names, what] of rows) {
    const marks = names.map((name) => element("kbd", {}, WRITTEN[name] ?? name));
    list.append(element("dt", {}, ...marks), element("dd", {}, what));
  }
  const close = element("button", { autofocus: "" }, "Close");
  close.addEventListener("click", () => dialog.close());
  dialog.replaceChildren(element("h2", {}, "Keys"), list, close);
  dialog.showModal();
}

/** The used properties of a key event. */
export type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "defaultPrevented">;

/** What has the focus: a text field, something that Enter presses, or anything else. */
export type Focused = "field" | "button" | "other";

/** Finds the action of a key, unless the focused element handles it. */
export function keyFinder(keys: Key[]): (pressed: Pressed, focused: Focused) => Key | undefined {
  const byName = new Map(keys.flatMap((key) => key.keys.map((name) => [name, key] as const)));
  return (pressed, focused) => {
    const isTaken = pressed.defaultPrevented || pressed.ctrlKey || pressed.metaKey || pressed.altKey;
    if (isTaken || focused === "field") return undefined;
    return pressed.key === "Enter" && focused === "button" ? undefined : byName.get(pressed.key);
  };
}

export function listen(keys: Key[]): void {
  const find = keyFinder(keys);
  addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    const isField = target.closest("input, textarea, select, dialog") !== null;
    const isButton = target.closest("button, [role=button], tr, th") !== null;
    const key = find(event, isField ? "field" : isButton ? "button" : "other");
    if (!key) return;
    event.preventDefault();
    key.run();
  });
}
