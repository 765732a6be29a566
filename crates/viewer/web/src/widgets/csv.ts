// Saves tables as CSV.

import { saveFile } from "./dom";

/** A CSV cell, quoted so that a spreadsheet does not interpret it as a formula. */
export function csvCell(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\n\r]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** Saves a table. */
export function saveCsv(name: string, titles: string[], rows: Iterable<string[]>): void {
  const lines = [titles.map(csvCell).join(",") + "\r\n"];
  for (const row of rows) lines.push(row.map(csvCell).join(",") + "\r\n");
  saveFile(`${name}.csv`, lines, "text/csv");
}
