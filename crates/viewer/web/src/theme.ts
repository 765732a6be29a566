// Light and dark, and the colours of spans.

import { store } from "./store";

export interface Palette {
  back: string;
  row: string;
  line: string;
  text: string;
  dim: string;
  accent: string;
  warn: string;
  bad: string;
}

const DARK: Palette = {
  back: "#15181d",
  row: "#1b1f26",
  line: "#2b313b",
  text: "#e6e9ee",
  dim: "#8b95a5",
  accent: "#6cb6ff",
  warn: "#e3b341",
  bad: "#ff7b72",
};

const LIGHT: Palette = {
  back: "#ffffff",
  row: "#f5f7fa",
  line: "#d8dee6",
  text: "#1c2430",
  dim: "#667284",
  accent: "#0b62c4",
  warn: "#9a6700",
  bad: "#c4231c",
};

let isDark = matchMedia("(prefers-color-scheme: dark)").matches;
const kept = localStorage.getItem("traceloom-theme");
if (kept !== null) isDark = kept === "dark";

export function palette(): Palette {
  return isDark ? DARK : LIGHT;
}

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
}

export function toggleTheme(): void {
  isDark = !isDark;
  localStorage.setItem("traceloom-theme", isDark ? "dark" : "light");
  applyTheme();
  fills.clear();
  store.tell("theme");
}

const fills = new Map<number, [string, string]>();

/** The colour of a name: the producer's, or one that follows from the name and never changes. */
export function fill(name: number): [back: string, text: string] {
  const known = fills.get(name);
  if (known) return known;
  const given = store.colors[name];
  const made: [string, string] =
    given !== null && given !== undefined ? producers(given) : stable(store.name(name));
  fills.set(name, made);
  return made;
}

export function forgetFills(): void {
  fills.clear();
}

function producers(argb: number): [string, string] {
  const [red, green, blue] = [(argb >>> 16) & 255, (argb >>> 8) & 255, argb & 255];
  const brightness = 0.299 * red + 0.587 * green + 0.114 * blue;
  return [`rgb(${red},${green},${blue})`, brightness > 140 ? "#111" : "#fff"];
}

function stable(name: string): [string, string] {
  let hash = 2166136261;
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 16777619);
  const hue = (hash >>> 0) % 360;
  const light = isDark ? 42 + ((hash >>> 9) % 10) : 70 + ((hash >>> 9) % 10);
  return [`hsl(${hue} 45% ${light}%)`, isDark ? "#fff" : "#111"];
}

/** Frames by how long they take: 17, 33 and 50 ms. */
export function frameFill(ns: number): string {
  if (ns <= 17e6) return isDark ? "#2ea043" : "#4ac26b";
  if (ns <= 33e6) return isDark ? "#bf8700" : "#d4a72c";
  return ns <= 50e6 ? "#d4691e" : "#cf222e";
}

/** Log levels by how bad they are. */
export function levelColor(level: string): string {
  const colors = palette();
  if (/err|fatal|crit/i.test(level)) return colors.bad;
  if (/warn/i.test(level)) return colors.warn;
  return /debug|trace/i.test(level) ? colors.dim : colors.accent;
}
