import { describe, expect, it } from "vitest";
import { page, track } from "../testing/page";
import { layout, ROW } from "./layout";
import { barAt, isCovered, listed, parse, placeOf, type LaneBars, type Wish } from "./picture";

/** A lane as the server sends it: a head, floats, words. */
function bytes(head: number[], floats: number[][], words: number[][]): Uint8Array {
  const parts = [
    new Uint32Array(head),
    ...floats.map((all) => new Float32Array(all)),
    ...words.map((all) => new Uint32Array(all)),
  ];
  return new Uint8Array(parts.flatMap((part) => [...new Uint8Array(part.buffer)]));
}

const two = bytes(
  [3, 0, 1, 2],
  [
    [10, 50],
    [20, 50.5],
    [1000, 7],
    [1, 0.25],
  ],
  [
    [4, 5],
    [100, 200],
    [1, 9],
  ],
);
const empty = bytes([3, 2, 0, 0], [[], [], [], []], [[], [], []]);

describe("parse", () => {
  it("reads lane after lane", () => {
    const lanes = parse(new Uint8Array([...two, ...empty]).buffer).get(3) as LaneBars[];
    expect(lanes).toHaveLength(2);
    expect(lanes[0]).toMatchObject({ track: 3, kind: 0, depth: 1 });
    expect([...(lanes[0]?.left ?? [])]).toEqual([10, 50]);
    expect([...(lanes[0]?.busy ?? [])]).toEqual([1, 0.25]);
    expect([...(lanes[0]?.counts ?? [])]).toEqual([1, 9]);
    expect(lanes[1]?.left).toHaveLength(0);
    expect(placeOf(lanes[0] as LaneBars, 1)).toEqual({ track: 3, kind: 0, depth: 1, index: 200 });
  });

  it("takes nothing for no lane", () => expect(parse(new ArrayBuffer(0)).size).toBe(0));
});

describe("barAt", () => {
  const lane = parse(two.slice().buffer).get(3)?.[0] as LaneBars;

  it("is the bar under a pixel, or the nearest within reach", () => {
    expect(barAt(lane, 15, 3)).toBe(0);
    expect(barAt(lane, 22, 3)).toBe(0);
    expect(barAt(lane, 48, 3)).toBe(1);
    expect(barAt(lane, 35, 3)).toBe(-1);
    expect(barAt(lane, 90, 3)).toBe(-1);
  });
});

describe("listed", () => {
  const strips = (depth: number): ReturnType<typeof layout>["strips"] =>
    layout(page({ tracks: [track({ depth }), track({ depth: 0, spans: 0, instants: 1 })] })).strips;

  it("names whole tracks, and only one row of those without nested spans", () => {
    expect(listed(strips(5), 0, 1000)).toEqual({ tracks: "0,1:0-0", counters: "" });
  });

  it("names the rows of a deep track that are near, in steps", () => {
    const [top, bottom] = [200 * ROW, 230 * ROW];
    const { tracks } = listed(strips(500), top, bottom);
    const [, first, last] = /^0:(\d+)-(\d+),1:0-0$/.exec(tracks) ?? [];
    expect(Number(first) % 20).toBe(0);
    expect(Number(first)).toBeLessThanOrEqual(196);
    expect(Number(last)).toBeGreaterThanOrEqual(230);
    expect(listed(strips(500), top + 5, bottom + 5).tracks).toBe(tracks);
  });
});

describe("isCovered", () => {
  const wish: Wish = { view: { from: 0, to: 100 }, width: 800, tracks: "0", counters: "", filter: "", revision: 1 };
  const window = { from: -50, to: 150 };

  it("is true while the view moves inside the picture", () => {
    expect(isCovered({ ...wish, view: { from: -40, to: 60 } }, wish, window)).toBe(true);
    expect(isCovered({ ...wish, view: { from: -60, to: 40 } }, wish, window)).toBe(false);
  });

  it("is false for another zoom, other tracks, or more data", () => {
    expect(isCovered({ ...wish, view: { from: 0, to: 99 } }, wish, window)).toBe(false);
    expect(isCovered({ ...wish, tracks: "0,1" }, wish, window)).toBe(false);
    expect(isCovered({ ...wish, filter: "{}" }, wish, window)).toBe(false);
    expect(isCovered({ ...wish, revision: 2 }, wish, window)).toBe(false);
  });
});
