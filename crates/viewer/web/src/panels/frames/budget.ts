// The time that a frame may take.

/** Frames per second that screens show. */
const RATES = [240, 144, 120, 60, 30, 15, 10, 5, 1] as const;

/** The budget of the fastest screen that most frames are quick enough for. */
export function usualBudget(median: number): number {
  const rate = RATES.find((rate) => 1e9 / rate >= median) ?? 1;
  return 1e9 / rate;
}

/** Reads a budget in milliseconds; none if it is not one. */
export function parsedBudget(text: string): number | null {
  const value = Number(text.replace(",", ".").replace(/\s*ms$/, ""));
  return text.trim() !== "" && Number.isFinite(value) && value > 0 ? value * 1e6 : null;
}

/** As it is typed. */
export function writtenBudget(ns: number): string {
  return String(Number((ns / 1e6).toPrecision(4)));
}
