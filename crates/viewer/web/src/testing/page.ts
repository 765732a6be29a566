// Pages for tests.

import { initial, type PageState } from "../store/state";
import type { CounterInfo, TraceInfo, TrackInfo } from "../wire";

/** A trace that is read, without anything in it. */
export function trace(change: Partial<TraceInfo> = {}): TraceInfo {
  return {
    path: "/traces/game.prof",
    format: "made",
    version: "1",
    trace_id: "7",
    bytes: 1000,
    clock: "steady",
    unix_origin_ns: null,
    from_ns: 0,
    to_ns: 1000,
    offset_ns: 0,
    findings: 0,
    logs: 0,
    memory: null,
    has_calls: false,
    has_lines: false,
    has_source: false,
    state: "ready",
    live: null,
    error: null,
    ...change,
  };
}

/** A track with one row of spans. */
export function track(change: Partial<TrackInfo> = {}): TrackInfo {
  return {
    trace: 0,
    thread_id: 0,
    threads: 1,
    tid: 1,
    process: "",
    name: "",
    kind: "",
    spans: 1,
    first_ns: null,
    busy_ns: 0,
    events: 0,
    instants: 0,
    bookmarks: 0,
    switches: 0,
    depth: 1,
    frame_depth: 0,
    range_depth: 0,
    ...change,
  };
}

/** Values of the name 0. */
export function counter(change: Partial<CounterInfo> = {}): CounterInfo {
  return {
    trace: 0,
    track: null,
    name: 0,
    value_id: null,
    series: 1,
    samples: 1,
    is_text: false,
    min: 0,
    max: 1,
    ...change,
  };
}

/** A page that has loaded these traces, tracks and counters. */
export function page(
  server: Partial<PageState["server"]> & { names?: number } = {},
  change: Partial<PageState> = {},
): PageState {
  const empty = initial();
  const loaded = { revision: 1, from_ns: 0, to_ns: 1000, traces: [trace()] };
  return { ...empty, server: { ...empty.server, ...loaded, ...server }, ...change };
}
