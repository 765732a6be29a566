// What the page knows, and who wants to hear of changes.

import type { EventDetails, Place, SpanDetails, State } from "./api";

export interface View {
  from: number;
  to: number;
}

export interface Selection {
  place: Place | null;
  span: SpanDetails | null;
  /** A point in time, instead of a span. */
  event: EventDetails | null;
  /** All spans of this name are highlighted. */
  name: number | null;
  /** A stretch of time that panels look at. */
  range: View | null;
  /** The tracks that panels look at; all where it is null. */
  tracks: number[] | null;
}

/** Nothing is selected. */
export const NOTHING: Selection = { place: null, span: null, event: null, name: null, range: null, tracks: null };

type Topic = "state" | "view" | "selection" | "tracks" | "theme" | "moved" | "scroll" | "size";

class Store {
  state: State = {
    revision: -1,
    read_bytes: 0,
    total_bytes: 0,
    from_ns: null,
    to_ns: null,
    traces: [],
    tracks: [],
    counters: [],
    names: 0,
    logs: 0,
    links: 0,
    sql: false,
  };
  names: string[] = [];
  colors: (number | null)[] = [];
  view: View = { from: 0, to: 1e9 };
  selection: Selection = NOTHING;
  /** Names that were searched for; they are highlighted where none is selected. */
  found: Set<number> | null = null;
  /** Tracks that are folded, hidden or pinned, by number; their order where it was changed. */
  folded = new Set<number>();
  hidden = new Set<number>();
  pinned = new Set<number>();
  order: number[] = [];
  /** Headings that are folded, by trace and process. */
  foldedGroups = new Set<string>();
  /** How far the tracks are scrolled. */
  scroll = 0;
  /** How high the panels are, where that was set. */
  panelHeight: number | null = null;
  private listeners = new Map<Topic, Set<() => void>>();

  on(topic: Topic, listener: () => void): void {
    const known = this.listeners.get(topic) ?? new Set();
    this.listeners.set(topic, known.add(listener));
  }

  tell(topic: Topic): void {
    this.listeners.get(topic)?.forEach((listener) => listener());
  }

  name(number: number): string {
    return this.names[number] ?? "";
  }

  /** The whole axis. */
  extent(): View {
    const { from_ns, to_ns } = this.state;
    if (from_ns === null || to_ns === null) return { from: 0, to: 1e9 };
    return { from: from_ns, to: Math.max(to_ns, from_ns + 1) };
  }

  /** Moves the view, within reason: not narrower than times can be told apart, not far beyond what there is. */
  look(from: number, to: number): void {
    if (!Number.isFinite(from) || !Number.isFinite(to)) return;
    const all = this.extent();
    const whole = Math.max(all.to - all.from, 10);
    const finest = Math.max(10, 128 * Number.EPSILON * Math.max(Math.abs(from), Math.abs(to)));
    const width = Math.min(Math.max(to - from, finest), Math.max(whole * 1.2, finest));
    const middle = (from + to) / 2;
    const lowest = all.from - whole * 0.1;
    const highest = all.to + whole * 0.1;
    const start = Math.min(Math.max(middle - width / 2, lowest), Math.max(lowest, highest - width));
    this.view = { from: start, to: start + width };
    this.tell("view");
  }

  /** Whether bars of other names are drawn faintly. */
  isFaint(name: number): boolean {
    if (this.selection.name !== null) return this.selection.name !== name;
    return this.found !== null && this.found.size > 0 && !this.found.has(name);
  }

  select(change: Partial<Selection>): void {
    const isOther = change.place !== undefined || change.span !== undefined;
    this.selection = { ...this.selection, ...(isOther ? { event: null } : {}), ...change };
    this.tell("selection");
  }
}

export const store = new Store();
