// The picture of a window: drawing data from the server.

import { ask, askBytes } from "../api";
import { store, type Place, type Range } from "../store";
import { filterOf, queryOf } from "../panels/log/filter";
import type { Extras, LogHit, LogQuery, Sample, TextLabel } from "../wire";
import { ROW, type Strip } from "./layout";

/** The bars of one lane, in pixels of the requested window. */
export interface LaneBars {
  track: number;
  kind: number;
  depth: number;
  left: Float32Array;
  right: Float32Array;
  /** Durations in nanoseconds of the longest span of each bar. */
  lengths: Float32Array;
  /** The shares of bars that spans cover, from 0 to 1. */
  busy: Float32Array;
  names: Uint32Array;
  indices: Uint32Array;
  counts: Uint32Array;
}

export interface Picture {
  window: Range;
  pixels: number;
  /** By track. */
  lanes: Map<number, LaneBars[]>;
  extras: Extras;
  /** By track, and by trace. */
  events: Map<number, Extras["events"]>;
  logs: Map<number, Extras["logs"]>;
  /** Lines that match the filter of the log, by trace. */
  hits: Map<number, LogHit[]>;
  counters: Map<number, Sample[]>;
  texts: Map<number, TextLabel[]>;
  memory: Map<number, Sample[]>;
}

/** Rows by their first number. */
function grouped<T extends [number, ...unknown[]]>(rows: T[]): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const row of rows) {
    const known = groups.get(row[0]);
    if (known) known.push(row);
    else groups.set(row[0], [row]);
  }
  return groups;
}

/** The request for a picture. */
export interface Wish {
  view: Range;
  width: number;
  tracks: string;
  counters: string;
  /** The filter of the log; empty for none. */
  filter: string;
  revision: number;
}

export function parse(bytes: ArrayBuffer): Map<number, LaneBars[]> {
  const lanes = new Map<number, LaneBars[]>();
  let at = 0;
  while (at + 16 <= bytes.byteLength) {
    const [track, kind, depth, bars] = new Uint32Array(bytes, at, 4) as unknown as [number, number, number, number];
    at += 16;
    const floats = (): Float32Array => new Float32Array(bytes, (at += 4 * bars) - 4 * bars, bars);
    const words = (): Uint32Array => new Uint32Array(bytes, (at += 4 * bars) - 4 * bars, bars);
    const lane = {
      track,
      kind,
      depth,
      left: floats(),
      right: floats(),
      lengths: floats(),
      busy: floats(),
      names: words(),
      indices: words(),
      counts: words(),
    };
    const known = lanes.get(track);
    if (known) known.push(lane);
    else lanes.set(track, [lane]);
  }
  return lanes;
}

/** Requests pictures, one at a time; the last request wins. */
export class Painter {
  picture: Picture | null = null;
  private shown: Wish | null = null;
  private next: Wish | null = null;
  private isAsking = false;

  constructor(private readonly drawn: () => void) {}

  /** Whether the picture is the last requested one. */
  get isDone(): boolean {
    return !this.isAsking && this.next === null && this.picture !== null;
  }

  /** Requests a picture of some strips, with a margin on both sides, so that moving shows no gap. */
  want(width: number, strips: Strip[], top: number, bottom: number): void {
    const wish = {
      view: store.state.view,
      width,
      ...listed(strips, top, bottom),
      filter: strips.some((strip) => strip.kind === "logs") ? logFilter() : "",
      revision: store.state.server.revision,
    };
    if (this.shown && this.picture && isCovered(wish, this.shown, this.picture.window)) {
      this.next = null;
      return;
    }
    this.next = wish;
    if (!this.isAsking) void this.work();
  }

  private async work(): Promise<void> {
    this.isAsking = true;
    while (this.next) {
      const wish = this.next;
      this.next = null;
      try {
        this.picture = await paint(wish);
        this.shown = wish;
        this.drawn();
      } catch (error) {
        console.warn(String(error));
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
    }
    this.isAsking = false;
  }
}

/** The tracks and counters of strips; for a deep track, only the rows near the view. */
export function listed(strips: Strip[], top: number, bottom: number): { tracks: string; counters: string } {
  const tracks = new Map<number, string>();
  const counters: number[] = [];
  for (const strip of strips) {
    const isCounter = strip.kind === "counter" || strip.kind === "text";
    if (isCounter) counters.push(strip.number);
    if (strip.track === null || isCounter) continue;
    const rows = strip.height / ROW;
    if (strip.kind !== "spans") tracks.set(strip.track, tracks.get(strip.track) ?? `${strip.track}:0-0`);
    else if (rows <= 60) tracks.set(strip.track, rows > 1 ? String(strip.track) : `${strip.track}:0-0`);
    else {
      // In steps, so that scrolling does not send a request for each row.
      const first = Math.max(0, Math.floor((top - strip.top) / ROW / 20) * 20 - 20);
      const last = Math.ceil((bottom - strip.top) / ROW / 20) * 20 + 20;
      tracks.set(strip.track, `${strip.track}:${first}-${Math.max(first, last)}`);
    }
  }
  return { tracks: [...tracks.values()].join(), counters: counters.join() };
}

/** Whether a picture satisfies a request as well as a new one would. */
export function isCovered(wish: Wish, shown: Wish, window: Range): boolean {
  const [wanted, has] = [wish.view.to - wish.view.from, shown.view.to - shown.view.from];
  const isLike =
    wish.width === shown.width &&
    wish.tracks === shown.tracks &&
    wish.counters === shown.counters &&
    wish.filter === shown.filter &&
    wish.revision === shown.revision;
  const isInside = window.from <= wish.view.from && wish.view.to <= window.to;
  return isLike && isInside && Math.abs(wanted / has - 1) < 0.001;
}

/** The filter of the log as text; empty for none. */
function logFilter(): string {
  const query = queryOf(filterOf(store.state.links["log"]));
  return Object.keys(query).length > 0 ? JSON.stringify(query) : "";
}

const FURTHEST = 9.2e18;

/** A time that the server accepts. */
function whole(ns: number): number {
  return Math.round(Math.min(Math.max(ns, -FURTHEST), FURTHEST));
}

async function paint(wish: Wish): Promise<Picture> {
  const { view, width } = wish;
  const from = whole(view.from - (view.to - view.from) / 2);
  // The width does not depend on the position of the view, so that items that share a pixel still do when it moves.
  const to = whole(from + Math.max(1, Math.round((view.to - view.from) * 2)));
  const pixels = Math.max(1, Math.round(width * 2));
  const query = { from, to, px: pixels, tracks: wish.tracks };
  const signal = AbortSignal.timeout(60_000);
  const filter = wish.filter === "" ? null : (JSON.parse(wish.filter) as LogQuery);
  const [bytes, extras, hits] = await Promise.all([
    askBytes("picture", query, signal),
    ask("extras", { ...query, counters: wish.counters }, signal),
    filter ? ask("log/hits", { ...filter, from, to, px: pixels }, signal) : [],
  ]);
  return {
    window: { from, to },
    pixels: Math.min(pixels, 16_384),
    lanes: parse(bytes),
    extras,
    events: grouped(extras.events),
    logs: grouped(extras.logs),
    hits: grouped(hits),
    counters: new Map(extras.counters),
    texts: new Map(extras.texts),
    memory: new Map(extras.memory),
  };
}

/** The bar of a lane at a pixel of the window. */
export function barAt(lane: LaneBars, x: number, reach: number): number {
  let best = -1;
  let distance = reach;
  for (let bar = 0; bar < lane.left.length; bar++) {
    const [left, right] = [lane.left[bar] ?? 0, lane.right[bar] ?? 0];
    if (left > x + reach) break;
    const away = x < left ? left - x : x > right ? x - right : 0;
    if (away < distance || (away === 0 && best < 0)) {
      best = bar;
      distance = away;
    }
  }
  return best;
}

export function placeOf(lane: LaneBars, bar: number): Place {
  return { track: lane.track, kind: lane.kind, depth: lane.depth, index: lane.indices[bar] ?? 0 };
}
