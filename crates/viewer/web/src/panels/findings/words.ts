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
      return `${value} of the trace is spent in ${subject} itself`;
    case "frame-spike":
      return `${of} frames of ${subject} take more than ${limit} as long as the median, the longest ${value}`;
    case "growth":
      return `${subject} grows by ${value} and never falls`;
    case "log-storm":
      return `“${subject}” is logged ${value} times in one second, ${of} times in all`;
    case "many-switches":
      return `${subject} was taken off the processor ${value} times`;
    default:
      return `${subject} is busy ${value} as long as the least busy of ${of} threads`;
  }
}

/** What to do about it. */
export const HELP: Record<string, string> = {
  "long-span":
    "A user notices what takes longer than a tenth of a second. Look at what it does inside, or do it elsewhere.",
  "hot-name": "Own time is time that no callee accounts for: making this faster makes the whole faster.",
  "frame-spike": "A frame that takes much longer than the others is seen as a stutter. Compare it with a usual one.",
  growth:
    "The lowest value of each window lies above the one before: nothing was given back. It is a leak, or a cache without a bound.",
  "log-storm": "Logging this often costs time and hides what matters. Log less often, or count instead.",
  "many-switches": "The thread is interrupted or waits very often: look for locks, short sleeps, or too many threads.",
  "unbalanced-threads": "Work could move from the busiest thread to the others.",
};

/** A format has holes where the log has values: its longest part finds the lines. */
export function longestPart(format: string): string {
  const parts = format.split(/%[-+ #0-9.*hlLqjzt]*[a-zA-Z%]/);
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), "").trim();
}
