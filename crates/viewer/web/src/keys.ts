// Everything by keyboard.

export interface Key {
  keys: string[];
  what: string;
  run(): void;
}

/** Shows all keys in a dialog. */
export function showKeys(dialog: HTMLDialogElement, keys: Key[]): void {
  const title = document.createElement("h3");
  title.textContent = "Keys";
  const list = document.createElement("dl");
  const mouse: [string, string][] = [
    ["wheel", "zoom"],
    ["drag", "move"],
    ["shift + drag, or drag on the ruler", "select a stretch of time"],
    ["shift + wheel", "scroll"],
    ["double click", "zoom to the selection"],
  ];
  const rows = [...keys.map((key): [string, string] => [key.keys.join("  "), key.what]), ...mouse];
  for (const [key, what] of rows) {
    const [term, detail, mark] = [document.createElement("dt"), document.createElement("dd"), document.createElement("kbd")];
    mark.textContent = key;
    term.append(mark);
    detail.textContent = what;
    list.append(term, detail);
  }
  const close = document.createElement("button");
  close.textContent = "Close";
  close.addEventListener("click", () => dialog.close());
  dialog.replaceChildren(title, list, close);
  dialog.showModal();
}

export function listen(keys: Key[]): void {
  const byKey = new Map(keys.flatMap((key) => key.keys.map((name) => [name, key] as const)));
  addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (target.closest("input, textarea, select, dialog") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && target.closest("button, [role=button], tr, th")) return;
    const key = byKey.get(event.key);
    if (!key) return;
    event.preventDefault();
    key.run();
  });
}
