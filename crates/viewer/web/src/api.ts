// What the server tells, and how to ask it.

export interface TraceInfo {
  path: string;
  format: string;
  version: string;
  trace_id: string;
  bytes: number;
  clock: string;
  unix_origin_ns: string | null;
  from_ns: number;
  to_ns: number;
  offset_ns: number;
  findings: number;
  /** Log lines with a time. */
  logs: number;
  memory: number | null;
  state: "loading" | "ready" | "failed";
  error: string | null;
}

export interface TrackInfo {
  trace: number;
  thread_id: number;
  tid: number | null;
  process: string;
  name: string;
  kind: string;
  spans: number;
  events: number;
  /** The part of the events that is drawn as such. */
  instants: number;
  switches: number;
  depth: number;
  frame_depth: number;
  range_depth: number;
}

export interface CounterInfo {
  trace: number;
  track: number | null;
  name: number;
  value_id: string | null;
  samples: number;
  /** Whether its values are texts. */
  is_text: boolean;
  min: number | null;
  max: number | null;
}

export interface State {
  revision: number;
  read_bytes: number;
  total_bytes: number;
  from_ns: number | null;
  to_ns: number | null;
  traces: TraceInfo[];
  tracks: TrackInfo[];
  counters: CounterInfo[];
  names: number;
  logs: number;
  links: number;
  /** Whether questions in SQL can be asked. */
  sql: boolean;
}

/** Where a span is: enough to find it again. */
export interface Place {
  track: number;
  kind: number;
  depth: number;
  index: number;
}

export interface Found extends Place {
  name?: number;
  ts_ns: number;
  dur_ns: number | null;
}

/** Kinds of places. */
export const SWITCH = 3;
export const EVENT = 4;

type Argument = [key: string, index: number | null, type: string, value: string | null];

export interface SpanDetails {
  name: string;
  name_id: number;
  id: number;
  trace: number;
  track: number;
  depth: number;
  ts_ns: number;
  dur_ns: number | null;
  self_ns?: number | null;
  category?: string;
  file?: string | null;
  line?: number | null;
  args?: Argument[];
  name_count: number;
  name_total_ns: number;
}

export interface EventDetails {
  name: string;
  name_id: number;
  id: number;
  category: string;
  track: number;
  ts_ns: number;
  args?: Argument[];
  name_count: number;
}

export interface LogLine {
  ts_ns: number | null;
  level: string;
  file: string | null;
  line: number | null;
  text: string;
}

/** What `traceloom stats` adds up for a stretch of time and some threads. */
export interface Totals {
  spans: number;
  unclosed: number;
  total_ns: number;
  busy_ns: number;
  names: number;
  events: number;
  threads: number;
  switches: number;
  off_cpu_ns: number;
}

export type Sample = [ts: number, min: number, max: number, last: number];

/** A value that is a text; `shared` of them begin in its place. */
export type TextLabel = [ts: number, text: string, shared: number, number: number];

/** Everything in a window but the bars. */
export interface Extras {
  events: [track: number, ts: number, name: number, category: number, shared: number, id: number][];
  counters: [counter: number, samples: Sample[]][];
  texts: [counter: number, labels: TextLabel[]][];
  memory: [trace: number, samples: Sample[]][];
  logs: [trace: number, ts: number, level: number, count: number, number: number][];
  links: [fromTrack: number, fromDepth: number, fromTs: number, toTrack: number, toDepth: number, toTs: number][];
  more_links: number;
}

/** One value for each pixel of the whole axis. */
export interface Overview {
  busy: number[];
  points: number[];
  errors: number[];
  memory: number[];
}

const token = new URLSearchParams(location.search).get("token") ?? "";

type Parameters = Record<string, string | number | boolean | undefined>;

async function request(path: string, parameters: Parameters, init: RequestInit = {}): Promise<Response> {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(key, String(value));
  }
  const response = await fetch(`api/${path}?${query}`, { ...init, headers: { "x-traceloom-token": token } });
  if (!response.ok) {
    throw new Error(errorIn(await response.text().catch(() => "")) || `the server answered ${response.status}`);
  }
  return response;
}

/** The sentence of an answer that is none. */
function errorIn(text: string): string {
  try {
    const answer = JSON.parse(text) as { error?: unknown };
    return typeof answer.error === "string" ? answer.error : "";
  } catch {
    return text.slice(0, 300);
  }
}

/** Asks for JSON. */
export async function ask<T>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T> {
  const response = await request(path, parameters, signal ? { signal } : {});
  return (await response.json()) as T;
}

/** Asks for bytes. */
export async function askBytes(path: string, parameters: Parameters, signal: AbortSignal): Promise<ArrayBuffer> {
  return (await request(path, parameters, { signal })).arrayBuffer();
}

/** Sends something. */
export async function send<T>(path: string, parameters: Parameters, body?: BodyInit): Promise<T> {
  return (await (await request(path, parameters, { method: "POST", ...(body ? { body } : {}) })).json()) as T;
}

// Questions that are too long for an address.

/** Asks for JSON with a body. */
export async function askWith<T>(path: string, body: unknown, signal: AbortSignal): Promise<T> {
  const response = await request(path, {}, { method: "POST", body: JSON.stringify(body), signal });
  return (await response.json()) as T;
}
