import { expect, it } from "vitest";
import type { StoredRow } from "../../wire";
import { entries, problems, startOf } from "./words";

const row = (spans: number, errors: number, finding: string | null = null): StoredRow => [
  "7",
  "/runs/a.prof",
  ["2026-11-16"],
  "1000000001",
  5,
  spans,
  1,
  0,
  1000,
  errors,
  2,
  finding,
];

it("says what a trace holds, and what is wrong with it", () => {
  expect(entries(row(1200, 0))).toBe("1,200 spans, 1 line");
  expect(entries(row(0, 0))).toBe("1 line");
  expect(problems(row(1, 0))).toBe("2 warnings");
  expect(problems(row(1, 1))).toBe("1 error, 2 warnings");
  expect(problems(row(1, 1, "it is text"))).toBe("quarantined");
  expect(startOf(row(1, 0))).toBe("1970-01-01 00:00:01.000000001 UTC");
});
