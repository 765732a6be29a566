// What a panel is, and what panels share.

/** One tab below the timeline. */
export interface Panel {
  id: string;
  title: string;
  /** Whether there is anything to show. */
  isUseful(): boolean;
  /** Fills an empty element; called again when the selection or the traces change. */
  show(host: HTMLElement): void | Promise<void>;
}

type Child = Node | string;

/** An element with attributes and children; texts are texts, whatever is in them. */
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

export interface Column<T> {
  title: string;
  /** What is shown. */
  text(row: T): string;
  /** What is sorted by; the text where it is absent. */
  value?(row: T): number;
}

/** A table that can be sorted, filtered, and saved as CSV. */
export function table<T>(columns: Column<T>[], rows: T[], choose?: (row: T) => void): HTMLElement {
  const host = element("div");
  const filter = element("input", { type: "search", placeholder: "Filter", "aria-label": "Filter" });
  const save = element("button", { title: "Save as CSV" }, "CSV");
  const counted = element("span", { class: "note" });
  const body = element("tbody");
  const head = element("tr");
  let sorted = { column: -1, isDown: true };
  const shown = (): T[] => {
    const text = filter.value.toLowerCase();
    const kept = rows.filter((row) => columns.some((column) => column.text(row).toLowerCase().includes(text)));
    const column = columns[sorted.column];
    if (!column) return kept;
    const sign = sorted.isDown ? -1 : 1;
    return kept.sort((one, other) =>
      column.value ? sign * (column.value(one) - column.value(other)) : sign * column.text(one).localeCompare(column.text(other)),
    );
  };
  const fill = (): void => {
    const kept = shown();
    counted.textContent = `${kept.length} of ${rows.length}`;
    body.replaceChildren(...kept.slice(0, 1000).map((row) => line(columns, row, choose)));
  };
  columns.forEach((column, number) => {
    const cell = element("th", { scope: "col", tabindex: "0" }, column.title);
    const sort = (): void => {
      sorted = { column: number, isDown: sorted.column === number ? !sorted.isDown : true };
      fill();
    };
    cell.addEventListener("click", sort);
    cell.addEventListener("keydown", (event) => event.key === "Enter" && sort());
    head.append(cell);
  });
  filter.addEventListener("input", fill);
  save.addEventListener("click", () => saveCsv(columns, shown()));
  host.append(
    element("div", { class: "tools" }, filter, save, counted),
    element("table", {}, element("thead", {}, head), body),
  );
  fill();
  return host;
}

function line<T>(columns: Column<T>[], row: T, choose?: (row: T) => void): HTMLElement {
  const made = element("tr", choose ? { tabindex: "0" } : {});
  for (const column of columns) {
    const text = column.text(row);
    made.append(element("td", { title: text }, text));
  }
  if (choose) {
    made.addEventListener("click", () => choose(row));
    made.addEventListener("keydown", (event) => event.key === "Enter" && choose(row));
  }
  return made;
}

/** A cell that a spreadsheet would take for a formula is shown as text. */
function csvCell(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\n\r]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

function saveCsv<T>(columns: Column<T>[], rows: T[]): void {
  const lines = [columns.map((column) => csvCell(column.title)).join(",")];
  for (const row of rows) {
    lines.push(columns.map((column) => csvCell(column.value ? String(column.value(row)) : column.text(row))).join(","));
  }
  const link = element("a", { download: "traceloom.csv" });
  link.href = URL.createObjectURL(new Blob([lines.join("\r\n") + "\r\n"], { type: "text/csv" }));
  link.click();
  URL.revokeObjectURL(link.href);
}

/** A sentence where there is nothing to show. */
export function note(text: string): HTMLElement {
  return element("p", { class: "note" }, text);
}

/** A sentence where something failed. */
export function failure(error: unknown): HTMLElement {
  return element("p", { class: "error" }, error instanceof Error ? error.message : String(error));
}
