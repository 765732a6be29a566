// The time budget of a frame.

/** Common refresh rates of screens, in frames per second. */
const RATES = [240, 144, 120, 60, 30, 15, 10, 5, 1] as const;

/** The budget of the highest refresh rate that most frames meet. */
export function usualBudget(median: number): number {
  const rate = RATES.find((rate) => 1e9 / rate >= median) ?? 1;
  return 1e9 / rate;
}

/** Parses a budget in milliseconds; null if it is invalid. */
export function parsedBudget(text: string): number | null {
  const value = Number(text.replace(",", ".").replace(/\s*ms$/, ""));
  return text.trim() !== "" && Number.isFinite(value) && value > 0 ? value * 1e6 : null;
}

/** The budget as typed by the user. */
export function writtenBudget(ns: number): string {
  return String(Number((ns / 1e6).toPrecision(4)));
}
