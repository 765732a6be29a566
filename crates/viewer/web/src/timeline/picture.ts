// The picture of a window, as the server drew it.

import { ask, askBytes, type Extras, type Place } from "../api";
import type { View } from "../store";

/** The bars of one lane, in pixels of the window that was asked for. */
export interface LaneBars {
  track: number;
  kind: number;
  depth: number;
  left: Float32Array;
  right: Float32Array;
  names: Uint32Array;
  indices: Uint32Array;
  counts: Uint32Array;
}

export interface Picture {
  window: View;
  pixels: number;
  lanes: LaneBars[];
  extras: Extras;
}

const BAR_BYTES = 20;

function parse(bytes: ArrayBuffer): LaneBars[] {
  const data = new DataView(bytes);
  const lanes: LaneBars[] = [];
  let at = 0;
  while (at + 16 <= data.byteLength) {
    const [track, kind, depth, bars] = [0, 4, 8, 12].map((skip) => data.getUint32(at + skip, true)) as [number, number, number, number];
    at += 16;
    const lane: LaneBars = {
      track,
      kind,
      depth,
      left: new Float32Array(bars),
      right: new Float32Array(bars),
      names: new Uint32Array(bars),
      indices: new Uint32Array(bars),
      counts: new Uint32Array(bars),
    };
    for (let bar = 0; bar < bars; bar++, at += BAR_BYTES) {
      lane.left[bar] = data.getFloat32(at, true);
      lane.right[bar] = data.getFloat32(at + 4, true);
      lane.names[bar] = data.getUint32(at + 8, true);
      lane.indices[bar] = data.getUint32(at + 12, true);
      lane.counts[bar] = data.getUint32(at + 16, true);
    }
    lanes.push(lane);
  }
  return lanes;
}

/** Asks for pictures, one at a time; the last wish wins. */
export class Painter {
  picture: Picture | null = null;
  private running: AbortController | null = null;

  constructor(private readonly drawn: () => void) {}

  /** Wishes for a window with a margin on both sides, so that moving shows no gap. */
  async want(view: View, pixels: number, tracks: number[]): Promise<void> {
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    const margin = (view.to - view.from) / 2;
    const window = { from: Math.floor(view.from - margin), to: Math.ceil(view.to + margin) };
    const query = { from: window.from, to: window.to, px: pixels * 2, tracks: tracks.join(",") };
    try {
      const [bytes, extras] = await Promise.all([
        askBytes("picture", query, running.signal),
        ask<Extras>("extras", query, running.signal),
      ]);
      const pixelNs = Math.max(1, Math.floor((window.to - window.from) / (pixels * 2)));
      this.picture = { window, pixels: (window.to - window.from) / pixelNs, lanes: parse(bytes), extras };
      this.drawn();
    } catch (error) {
      if (!running.signal.aborted) console.warn(String(error));
    }
  }
}

/** The bar of a lane at a pixel of the window. */
export function barAt(lane: LaneBars, x: number, reach: number): number {
  let best = -1;
  let distance = reach;
  for (let bar = 0; bar < lane.left.length; bar++) {
    const [left, right] = [lane.left[bar] ?? 0, lane.right[bar] ?? 0];
    const away = x < left ? left - x : x > right ? x - right : 0;
    if (away < distance || (away === 0 && best < 0)) {
      best = bar;
      distance = away;
    }
    if (left > x + reach) break;
  }
  return best;
}

export function placeOf(lane: LaneBars, bar: number): Place {
  return { track: lane.track, kind: lane.kind, depth: lane.depth, index: lane.indices[bar] ?? 0 };
}
