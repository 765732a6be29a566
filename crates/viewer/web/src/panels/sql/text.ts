// The position of an error in the text of a query.

import type { SqlPlace } from "../../wire";

/** Converts a position to the offsets of a text box; the server counts characters from 1. */
export function offsets(text: string, [line, column, endColumn]: SqlPlace): [from: number, to: number] {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  const letters = Array.from(lines[line - 1] ?? "");
  const length = (most: number): number => letters.slice(0, most).join("").length;
  return [before + length(column - 1), before + length(Math.max(endColumn - 1, column))];
}

/** The line of a position, split into the text before, at, and after it; null if there is no such line. */
export function around(text: string, [line, column, endColumn]: SqlPlace): [string, string, string] | null {
  const whole = text.split("\n")[line - 1];
  if (whole === undefined) return null;
  const letters = Array.from(whole);
  const [from, to] = [column - 1, Math.max(endColumn - 1, column)];
  return [letters.slice(0, from).join(""), letters.slice(from, to).join(""), letters.slice(to).join("")];
}

/** Formats an integer with separators; everything else is unchanged. */
export function grouped(text: string): string {
  return /^-?\d{5,}$/.test(text) ? text.replace(/\B(?=(\d{3})+$)/g, ",") : text;
}
