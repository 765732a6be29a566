// Findings and advice in plain words.

import { bytes, count, duration } from "../../format";
import type { AdviceUnit } from "../../wire";

/** Turns `count-mismatch` into words. */
export function titleOf(code: string): string {
  const words = (code.split(".").pop() ?? code).replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The severity of a finding, from 0. */
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

/** Advice by kind of problem. */
export const HELP: Record<string, string> = {
  churn: "Allocating and freeing cost time. Reuse the memory, or allocate once outside the loop.",
  "double-free": "Freeing a block twice corrupts memory that may already be in use elsewhere.",
  "error-burst": "A burst of errors usually has one cause. Look at the first error and at the warnings before it.",
  "frame-spike":
    "A frame that takes much longer than the others is visible as a stutter. Compare it with a typical one.",
  growth: "The value never returns to an earlier level: a leak, or a queue that is filled faster than it is emptied.",
  "hot-line": "This line takes much of the time: making it faster makes the whole program faster.",
  "hot-name": "Self time excludes callees: making this faster makes the whole program faster.",
  "idle-worker": "This thread could take over work from the others.",
  leak: "Blocks from this site stay in use until the end, throughout the trace: a leak, or a cache without a limit.",
  "lock-convoy": "The threads wait for each other. Hold the lock for a shorter time, or split it.",
  "log-storm": "Logging this often costs time and hides what matters. Log less often, or count instead.",
  "missed-budget": "Most frames exceed their budget. Start with the name that takes the most time per frame.",
  recursion: "Deep or repeated recursion costs stack and time. Cache results, or use a loop.",
  slowdown: "Each call takes longer than before. Compare a call before the change with one after it.",
  "tiny-spans":
    "Recording such short spans takes as long as the spans and distorts other times. Record the loop instead.",
  "uneven-pool": "Work could move from this thread to the others.",
};

/** A format has placeholders for values, so its longest literal part is used to find the lines. */
export function longestPart(format: string): string {
  const parts = format.split(/%[-+ #0-9.*hlLqjzt]*[a-zA-Z%]/);
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), "").trim();
}
