import { describe, expect, it } from "vitest";
import { store } from "../store";
import { page, trace, track } from "../testing/page";
import type { TraceInfo } from "../wire";
import { amount, kept, unit, weights } from "./kept";

const memory = {} as NonNullable<TraceInfo["memory"]>;
const spans = { tracks: [track()] };
const allocations = { tracks: [], traces: [trace({ memory })] };

function show(server: Parameters<typeof page>[0], flame: unknown): void {
  store.set(page(server, { links: { flame } }));
}

describe("kept", () => {
  it("falls back to what the traces have", () => {
    show(spans, { weight: "leaked" });
    expect(kept().weight).toBe("time");
    show(allocations, { weight: "self" });
    expect(kept().weight).toBe("bytes");
    show(allocations, { weight: "leaked" });
    expect(kept().weight).toBe("leaked");
  });

  it.each([5, null, "x", { view: 7, path: 5, steps: "no", at: "soon" }])("takes a link that holds %j", (flame) => {
    show(spans, flame);
    expect(kept()).toMatchObject({ view: "top", path: [], steps: [], at: null, name: null, threads: false });
  });

  it("drops steps and names that are not what they should be", () => {
    const drop = { kind: "drop", name: "Sleep" };
    show(spans, { steps: [drop, { kind: "bend", name: "x" }, { kind: "focus" }, null], path: ["a", 5] });
    expect(kept()).toMatchObject({ steps: [drop], path: ["a"] });
  });
});

it("offers the weights that the traces have", () => {
  show(spans, {});
  const usable = (): string[] =>
    weights()
      .filter(({ isDisabled }) => isDisabled !== true)
      .map(({ id }) => id);
  expect(usable()).toEqual(["time", "self", "count"]);
  show(allocations, { at: 50.4, weight: "alive" });
  expect(usable()).toEqual(["count", "bytes", "peak", "leaked", "temporary", "alive"]);
});

it("writes weights in their unit", () => {
  show(spans, {});
  expect([amount(2_000_000), unit(false), unit(true)]).toEqual(["2 ms", "spans", "calls"]);
  show(allocations, {});
  expect(unit(false)).toBe("allocations");
});
