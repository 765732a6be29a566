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

const system = matchMedia("(prefers-color-scheme: dark)");
let isDark = isWanted();

/** What was chosen here, or else what the system has. */
function isWanted(): boolean {
  const kept = localStorage.getItem("traceloom-theme");
  return kept === null ? system.matches : kept === "dark";
}

system.addEventListener("change", () => setDark(isWanted()));

export function palette(): Palette {
  return isDark ? DARK : LIGHT;
}

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
}

export function toggleTheme(): void {
  localStorage.setItem("traceloom-theme", isDark ? "light" : "dark");
  setDark(!isDark);
}

function setDark(next: boolean): void {
  isDark = next;
  applyTheme();
  forgetFills();
  store.tell("theme");
}

/** What a bar of a name looks like. */
export interface Paint {
  css: string;
  /** What can be read on it. */
  text: string;
  /** The same where another name is looked at. */
  faint: string;
  faintText: string;
  /** As pixels: 0xAABBGGRR. */
  pixel: number;
  faintPixel: number;
}

let paints: Paint[] = [];

/** How a name is painted: in the producer's colour, or in one that follows from the name and never changes. */
export function paint(name: number): Paint {
  const known = paints[name];
  if (known) return known;
  const given = store.colors[name];
  const rgb = given !== null && given !== undefined ? producers(given) : stable(store.name(name));
  return (paints[name] = painted(rgb));
}

/** How a text is painted that is no name of the timeline. */
export function paintText(text: string): Paint {
  return painted(stable(text));
}

/** The colour of a name, and what can be read on it. */
export function fill(name: number): [back: string, text: string] {
  const { css, text } = paint(name);
  return [css, text];
}

export function forgetFills(): void {
  paints = [];
}

type Rgb = [red: number, green: number, blue: number];

function painted(rgb: Rgb): Paint {
  const back = isDark ? 24 : 255;
  const faint = rgb.map((part) => Math.round(part * 0.28 + back * 0.72)) as Rgb;
  const brightness = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
  return {
    css: `rgb(${rgb.join()})`,
    text: brightness > 140 ? "#14171c" : "#fff",
    faint: `rgb(${faint.join()})`,
    faintText: isDark ? "#8b95a5" : "#8a94a3",
    pixel: pixelOf(rgb),
    faintPixel: pixelOf(faint),
  };
}

/** A colour as a pixel of an image, opaque. */
export function pixelOf([red, green, blue]: Rgb): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

function producers(argb: number): Rgb {
  return [(argb >>> 16) & 255, (argb >>> 8) & 255, argb & 255];
}

function stable(name: string): Rgb {
  let hash = 2166136261;
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 16777619);
  const light = isDark ? 44 + ((hash >>> 9) % 10) : 70 + ((hash >>> 9) % 10);
  return fromHsl((hash >>> 0) % 360, 0.45, light / 100);
}

function fromHsl(hue: number, saturation: number, light: number): Rgb {
  const reach = saturation * Math.min(light, 1 - light);
  const part = (shift: number): number => {
    const at = (shift + hue / 30) % 12;
    return Math.round(255 * (light - reach * Math.max(-1, Math.min(at - 3, 9 - at, 1))));
  };
  return [part(0), part(8), part(4)];
}

const FRAMES: [Rgb, Rgb, Rgb, Rgb] = [
  [46, 160, 67],
  [212, 167, 44],
  [219, 109, 40],
  [207, 34, 46],
];

/** Frames by how long they take: up to 17, 33 and 50 ms, and longer. */
export function framePaint(ns: number): Paint {
  const at = [17e6, 33e6, 50e6].findIndex((most) => ns <= most);
  return painted(FRAMES[at < 0 ? 3 : at] ?? FRAMES[3]);
}

/** Times when a thread did not run. */
export function switchPaint(): Paint {
  return painted(isDark ? [126, 104, 168] : [150, 132, 196]);
}

/** Log levels by how bad they are. */
export function levelColor(level: string): string {
  const colors = palette();
  if (/err|fatal|crit/i.test(level)) return colors.bad;
  if (/warn/i.test(level)) return colors.warn;
  return /debug|trace/i.test(level) ? colors.dim : colors.accent;
}

/** How bad a log level is, from 0; worse ones are drawn over others. */
export function levelRank(level: string): number {
  if (/err|fatal|crit/i.test(level)) return 3;
  if (/warn/i.test(level)) return 2;
  return /debug|trace/i.test(level) ? 0 : 1;
}
