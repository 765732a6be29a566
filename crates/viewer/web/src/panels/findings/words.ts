// Findings and advice in plain words.

import { bytes, count, duration } from "../../format";
import type { Advice, AdviceUnit } from "../../wire";

/** `count-mismatch` is read as words. */
export function titleOf(code: string): string {
  const words = (code.split(".").pop() ?? code).replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** How severe a finding is, from 0. */
export function rank(severity: string): number {
  return ["note", "warning", "error"].indexOf(severity);
}

/** A figure with its unit. */
export function amount(value: number, unit: AdviceUnit): string {
  switch (unit) {
    case "bytes":
      return bytes(Math.max(0, Math.round(value)));
    case "count":
      return count(Math.round(value));
    case "ns":
      return duration(value);
    case "part":
      return `${(value * 100).toFixed(1)} %`;
    case "times":
      return `${value.toFixed(1)} times`;
    case "number":
      return String(value);
  }
}

export function sentence(advice: Pick<Advice, "rule" | "subject" | "value" | "limit" | "unit" | "count">): string {
  const { subject } = advice;
  const value = amount(advice.value, advice.unit);
  const limit = amount(advice.limit, advice.unit);
  const of = count(advice.count);
  switch (advice.rule) {
    case "long-span":
      return `${subject} takes up to ${value}; ${of} took longer than ${limit}`;
    case "hot-name":
      return `${subject} has ${value} self time`;
    case "frame-spike":
      return `${of} slow frames of ${subject}: up to ${value} the median (limit ${limit})`;
    case "growth":
      return `${subject} grows by ${value} and never falls`;
    case "log-storm":
      return `“${subject}” is logged ${value} times in one second, ${of} times in total`;
    case "many-switches":
      return `${subject} was switched off the CPU ${value} times`;
    default:
      return `${subject} is ${value} as busy as the least busy of ${of} threads`;
  }
}

/** What to do about it. */
export const HELP: Record<string, string> = {
  "long-span": "Users notice delays longer than 100 ms. Look at its children, or move the work to another thread.",
  "hot-name": "Self time is not spent in any callee: making this faster makes everything faster.",
  "frame-spike": "A frame that takes much longer than the others shows as a stutter. Compare it with a typical frame.",
  growth: "The minimum keeps rising: memory is not freed. This is a leak, or a cache without a limit.",
  "log-storm": "Logging this often costs time and hides important lines. Log less often, or count instead.",
  "many-switches": "The thread is interrupted or waits very often. Look for locks, short sleeps, or too many threads.",
  "unbalanced-threads": "Work could move from the busiest thread to the others.",
};

/** A format has holes where the log has values: its longest part finds the lines. */
export function longestPart(format: string): string {
  const parts = format.split(/%[-+ #0-9.*hlLqjzt]*[a-zA-Z%]/);
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), "").trim();
}
