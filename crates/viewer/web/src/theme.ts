// Light and dark, and how names are painted.

import { dark, light, ofChange, painted, producers, stable, type Paint, type Palette, type Rgb } from "./colors";
import { store } from "./store";

/** The chosen theme, or else the system theme. */
function isDarkWanted(system: MediaQueryList): boolean {
  const kept = localStorage.getItem("traceloom-theme");
  return kept === null ? system.matches : kept === "dark";
}

/** Applies the theme from now on. */
export function followTheme(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const show = (): void => void (document.documentElement.dataset["theme"] = store.state.isDark ? "dark" : "light");
  store.subscribe(
    ({ isDark, names }) => [isDark, names],
    () => (paints = []),
  );
  store.subscribe(({ isDark }) => isDark, show);
  system.addEventListener("change", () => store.set({ isDark: isDarkWanted(system) }));
  store.set({ isDark: isDarkWanted(system) });
  show();
}

export function toggleTheme(): void {
  const isDark = !store.state.isDark;
  localStorage.setItem("traceloom-theme", isDark ? "dark" : "light");
  store.set({ isDark });
}

export function palette(): Palette {
  return store.state.isDark ? dark : light;
}

let paints: Paint[] = [];

/** The colors of a name: the producer's color, or one that is derived from the name and never changes. */
export function paint(name: number): Paint {
  return (paints[name] ??= paintNow(name));
}

function paintNow(name: number): Paint {
  const { names, isDark } = store.state;
  const given = names.color(name);
  return painted(given === null ? stable(names.text(name), isDark) : producers(given), isDark);
}

/** The colors of a text, whether or not it is a name of the timeline. */
const TRACES = ["accent", "warn", "bad", "text"] as const;

/** The color of one of several traces in a common chart. */
export function traceColor(at: number): string {
  return palette()[TRACES[at % TRACES.length] ?? "text"];
}

export function paintChange(change: number): Paint {
  const { isDark } = store.state;
  return painted(ofChange(change, isDark), isDark);
}

export function paintText(text: string): Paint {
  const { names, isDark } = store.state;
  const number = names.number(text);
  return number === undefined ? painted(stable(text, isDark), isDark) : paint(number);
}

const FRAMES: [Rgb, Rgb, Rgb, Rgb] = [
  [46, 160, 67],
  [212, 167, 44],
  [219, 109, 40],
  [207, 34, 46],
];

/** The colors of frames by duration: up to 17, 33 and 50 ms, and longer. */
export function framePaint(ns: number): Paint {
  const at = [17e6, 33e6, 50e6].findIndex((most) => ns <= most);
  return painted(FRAMES[at < 0 ? 3 : at] ?? FRAMES[3], store.state.isDark);
}

/** Times when a thread did not run. */
export function switchPaint(): Paint {
  const { isDark } = store.state;
  return painted(isDark ? [126, 104, 168] : [150, 132, 196], isDark);
}

/** The colors of log levels by severity. */
export function levelColor(level: string): string {
  const { dim, accent, warn, bad } = palette();
  return [dim, accent, warn, bad][levelRank(level)] ?? accent;
}

/** The severity of a log level, from 0; more severe levels are drawn over others. */
export function levelRank(level: string): 0 | 1 | 2 | 3 {
  if (/err|fatal|crit/i.test(level)) return 3;
  if (/warn/i.test(level)) return 2;
  return /debug|trace/i.test(level) ? 0 : 1;
}
