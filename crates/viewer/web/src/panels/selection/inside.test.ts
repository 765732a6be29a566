import { expect, it } from "vitest";
import type { Totals } from "../../wire";
import { insides } from "./inside";

it("tells what happened besides spans, and nothing of what did not", () => {
  const none: Totals = {
    spans: 0,
    unclosed: 0,
    total_ns: 0,
    busy_ns: 0,
    names: 0,
    events: 0,
    threads: 0,
    switches: 0,
    off_cpu_ns: 0,
    event_names: [],
    values: [],
    memory: null,
    logs: [],
  };
  expect(insides(none)).toEqual([]);
  const some: Totals = {
    ...none,
    switches: 2,
    off_cpu_ns: 3_000,
    logs: [["ERROR", 18, 4, "query failed"]],
    memory: { allocations: 5, allocated_bytes: 640, frees: 0, freed_bytes: 0 },
    event_names: [["Vsync", 1]],
    values: [
      ["objects", 3, 1, 2, 3],
      ["level", 1, 7, 7, 7],
    ],
  };
  expect(insides(some).map((row) => row.join(": "))).toEqual([
    "off CPU: 3 µs in 2 switches",
    "log ERROR: 18: query failed",
    "allocated: 640 B in 5 allocations",
    "Vsync: 1 event",
    "objects: 1 to 3, mean 2 (3 values)",
    "level: 7 (1 value)",
  ]);
});
