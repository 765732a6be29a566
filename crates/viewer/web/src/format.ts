// Times, sizes and counts as people read them.

const UNITS: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

/** A duration in the unit that fits it. */
export function duration(ns: number | null | undefined): string {
  if (ns === null || ns === undefined) return "still open";
  const size = Math.abs(ns);
  const [scale, unit] = UNITS.find(([scale]) => size >= scale) ?? [1, "ns"];
  return `${trim(ns / scale)} ${unit}`;
}

function trim(value: number): string {
  const digits = Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 10 ? 2 : 3;
  return value.toFixed(digits).replace(/\.?0+$/, "");
}

/** A point in time, exact to the step that is shown. */
export function moment(ns: number, stepNs = 1): string {
  const digits = stepNs >= 1e9 ? 0 : Math.min(9, Math.ceil(9 - Math.log10(Math.max(1, stepNs))));
  return `${(ns / 1e9).toFixed(digits)} s`;
}

/** Bytes with a unit. */
export function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (Math.abs(count) >= 10_000 && unit < units.length - 1) {
    count /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? count : count.toFixed(1)} ${units[unit]}`;
}

/** A count with separators. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** A part of a whole. */
export function share(part: number, whole: number): string {
  return whole > 0 ? `${((100 * part) / whole).toFixed(1)} %` : "";
}

const FACTORS: Record<string, number> = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };

/** Reads `1.5s`, `250ms`; a number alone is seconds. */
export function parseTime(text: string): number | null {
  const match = /^\s*(-?[\d.]+)\s*(ns|us|µs|ms|s|m|h)?\s*$/.exec(text);
  const value = Number(match?.[1]);
  return match && Number.isFinite(value) ? Math.round(value * (FACTORS[match[2] ?? "s"] ?? 1e9)) : null;
}
