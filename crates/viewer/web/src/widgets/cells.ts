// The appearance and sort order of table cells.

import { element } from "./dom";
import type { Column } from "./table";

let ruler: CanvasRenderingContext2D | null = null;

/** The width of `1ch` of an element, in pixels. */
export function letter(host: HTMLElement): number {
  ruler ??= document.createElement("canvas").getContext("2d");
  if (!ruler) return 8;
  ruler.font = getComputedStyle(host).font;
  return ruler.measureText("0").width || 8;
}

/** One cell of a row. */
export function cell<T>(column: Column<T>, row: T): HTMLElement {
  const text = column.text(row);
  const made = element("td", { class: side(column), title: column.about?.(row) ?? text });
  const color = column.color?.(row);
  if (color) made.append(element("i", { class: "swatch", style: `background: ${color}` }));
  made.append(text);
  const part = column.bar?.(row) ?? 0;
  if (part > 0) made.style.setProperty("--part", `${(100 * Math.min(part, 1)).toFixed(2)}%`);
  if (column.bar) made.classList.add("bar");
  return made;
}

/** The alignment of a column. */
export function side<T>(column: Column<T>): string {
  return (column.align ?? (column.value ? "right" : "left")) === "right" ? "number" : "text";
}

/** Values that are not numbers sort before all numbers. */
export function compare(one: number, other: number): number {
  if (Number.isNaN(one) || Number.isNaN(other)) return Number(Number.isNaN(other)) - Number(Number.isNaN(one));
  return one < other ? -1 : Number(one > other);
}

/** A number as written to a file. */
export function number(value: number): string {
  return Number.isNaN(value) ? "" : String(value);
}
