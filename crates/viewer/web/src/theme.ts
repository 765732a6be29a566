// Light and dark, and how names are painted.

import { dark, light, ofChange, painted, producers, stable, type Paint, type Palette, type Rgb } from "./colors";
import { store } from "./store";

/** What was chosen here, or else what the system has. */
function isDarkWanted(system: MediaQueryList): boolean {
  const kept = localStorage.getItem("traceloom-theme");
  return kept === null ? system.matches : kept === "dark";
}

/** Shows the page as wanted, from now on. */
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

/** How a name is painted: in the producer's color, or in one that follows from the name and never changes. */
export function paint(name: number): Paint {
  return (paints[name] ??= paintNow(name));
}

function paintNow(name: number): Paint {
  const { names, isDark } = store.state;
  const given = names.color(name);
  return painted(given === null ? stable(names.text(name), isDark) : producers(given), isDark);
}

/** How a text is painted, whether or not it is a name of the timeline. */
const TRACES = ["accent", "warn", "bad", "text"] as const;

/** The color of one of several traces in a picture of all. */
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

/** Frames by how long they take: up to 17, 33 and 50 ms, and longer. */
export function framePaint(ns: number): Paint {
  const at = [17e6, 33e6, 50e6].findIndex((most) => ns <= most);
  return painted(FRAMES[at < 0 ? 3 : at] ?? FRAMES[3], store.state.isDark);
}

/** Times when a thread did not run. */
export function switchPaint(): Paint {
  const { isDark } = store.state;
  return painted(isDark ? [126, 104, 168] : [150, 132, 196], isDark);
}

/** Log levels by how bad they are. */
export function levelColor(level: string): string {
  const { dim, accent, warn, bad } = palette();
  return [dim, accent, warn, bad][levelRank(level)] ?? accent;
}

/** How bad a log level is, from 0; worse ones are drawn over others. */
export function levelRank(level: string): 0 | 1 | 2 | 3 {
  if (/err|fatal|crit/i.test(level)) return 3;
  if (/warn/i.test(level)) return 2;
  return /debug|trace/i.test(level) ? 0 : 1;
}
