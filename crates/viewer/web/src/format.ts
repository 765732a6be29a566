// Human-readable times, sizes and counts.

const UNITS: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

/** A duration in a suitable unit. */
export function duration(ns: number | null | undefined): string {
  if (ns === null || ns === undefined) return "still open";
  const size = Math.abs(ns);
  if (size >= 600e9) return long(ns);
  const [scale, unit] = UNITS.find(([scale]) => size >= scale) ?? [1, "ns"];
  return `${trim(ns / scale)} ${unit}`;
}

/** Minutes, hours or days, for long durations. */
function long(ns: number): string {
  const minutes = ns / 60e9;
  if (Math.abs(minutes) < 120) return `${trim(minutes)} min`;
  return Math.abs(minutes) < 48 * 60 ? `${trim(minutes / 60)} h` : `${trim(minutes / 1440)} d`;
}

function trim(value: number): string {
  const digits = Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 10 ? 2 : 3;
  return value.toFixed(digits).replace(/\.?0+$/, "");
}

/** A point in time in a suitable unit, exact to the step or to the nanosecond. */
export function moment(ns: number, stepNs = 0): string {
  const size = Math.abs(ns);
  const [scale, unit] = UNITS.find(([scale]) => size >= scale) ?? [1, "ns"];
  const digits = Math.max(0, Math.ceil(Math.log10(scale / Math.max(1, stepNs)) - 1e-9));
  const text = (ns / scale).toFixed(digits);
  return `${stepNs === 0 && digits > 0 ? text.replace(/\.?0+$/, "") : text} ${unit}`;
}

/** A point in time in seconds with a fixed number of digits, for lists. */
export function seconds(ns: number): string {
  return `${(ns / 1e9).toFixed(9)} s`;
}

const CLOCK_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

/** The distance of ticks on a ruler: a round number of at least this many nanoseconds. */
export function tickStep(least: number): number {
  if (least >= 1e9) {
    const step = CLOCK_STEPS.find((seconds) => seconds * 1e9 >= least);
    if (step !== undefined) return step * 1e9;
    return 86400e9 * roundUp(least / 86400e9);
  }
  return Math.max(1, roundUp(least));
}

/** Rounds up to 1, 2 or 5 times a power of ten. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5].find((step) => step * power >= value * (1 - 1e-9)) ?? 10);
}

/** The label of a tick, in a unit suitable for the distance from the start. */
export function tick(ns: number, step: number, furthest: number): string {
  if (furthest >= 60e9 && step >= 1e9) return clock(ns);
  const [scale, unit] = UNITS.find(([scale]) => furthest >= scale && scale >= 1e3) ?? [1, "ns"];
  const digits = Math.max(0, Math.ceil(Math.log10(scale / step) - 1e-9));
  return `${(ns / scale).toFixed(Math.min(digits, 12)).replace(/^-(0(?:\.0+)?)$/, "$1")} ${unit}`;
}

/** Minutes and seconds, with hours and days if needed. */
function clock(ns: number): string {
  const sign = ns < 0 ? "-" : "";
  const whole = Math.round(Math.abs(ns) / 1e9);
  const two = (value: number): string => String(value).padStart(2, "0");
  const [days, hours, minutes] = [
    Math.floor(whole / 86400),
    Math.floor(whole / 3600) % 24,
    Math.floor(whole / 60) % 60,
  ];
  const short = `${two(minutes)}:${two(whole % 60)}`;
  if (whole < 3600) return `${sign}${short.replace(/^0/, "")}`;
  return days > 0 ? `${sign}${days} d ${two(hours)}:${short}` : `${sign}${hours}:${short}`;
}

/** The time of day of a moment, in UTC, exact to the nanosecond. */
export function wallClock(unixOriginNs: string, ns: number): string {
  const at = BigInt(unixOriginNs) + BigInt(Math.round(ns));
  const [seconds, rest] = [at / 1_000_000_000n, at % 1_000_000_000n];
  const date = new Date(Number(rest < 0n ? seconds - 1n : seconds) * 1000);
  if (Number.isNaN(date.getTime())) return "";
  const fraction = String(rest < 0n ? rest + 1_000_000_000n : rest).padStart(9, "0");
  return `${date.toISOString().slice(0, 19).replace("T", " ")}.${fraction} UTC`;
}

/** A value with a suitable number of digits. */
export function figure(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en-US");
  return Number(value.toPrecision(6)).toString();
}

/** Bytes with a unit. */
export function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (Math.abs(count) >= 1000 && unit < units.length - 1) {
    count /= 1000;
    unit += 1;
  }
  const digits = Math.abs(count) >= 100 ? 0 : Math.abs(count) >= 10 ? 1 : 2;
  return `${unit === 0 ? count : String(Number(count.toFixed(digits)))} ${units[unit]}`;
}

/** A count with separators. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** A share of a whole. */
export function share(part: number, whole: number): string {
  return whole > 0 ? `${((100 * part) / whole).toFixed(1)} %` : "";
}

const FACTORS: Record<string, number> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };

/** Parses `1.5s`, `250ms`; a number without a unit means seconds. */
export function parseTime(text: string): number | null {
  const match = /^\s*(-?[\d.]+)\s*(ns|us|µs|ms|s|m|h)?\s*$/.exec(text);
  const value = Number(match?.[1]);
  return match && Number.isFinite(value) ? Math.round(value * (FACTORS[match[2] ?? "s"] ?? 1e9)) : null;
}
