// Offsets that align several traces.

import type { TraceInfo } from "../wire";

/** Offsets that align all traces by time of day; null if a trace does not have it. */
export function byClock(traces: Pick<TraceInfo, "unix_origin_ns">[]): number[] | null {
  const origins = traces.map((trace) => trace.unix_origin_ns);
  const known = origins.filter((origin) => origin !== null).map((origin) => BigInt(origin));
  if (known.length !== origins.length || known.length === 0) return null;
  const first = known.reduce((least, origin) => (origin < least ? origin : least));
  return known.map((origin) => Number(origin - first));
}

/** Offsets that let all traces start together. */
export function fromStart(traces: Pick<TraceInfo, "from_ns">[]): number[] {
  // Not -0, which is written differently.
  return traces.map((trace) => 0 - trace.from_ns);
}
