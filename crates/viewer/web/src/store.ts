// What the page knows, and who wants to hear of changes.

import type { Place, SpanDetails, State } from "./api";

export interface View {
  from: number;
  to: number;
}

export interface Selection {
  place: Place | null;
  span: SpanDetails | null;
  /** All spans of this name are highlighted. */
  name: number | null;
  /** A stretch of time that panels look at. */
  range: View | null;
}

type Topic = "state" | "view" | "selection" | "tracks" | "theme";

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
  };
  names: string[] = [];
  colors: (number | null)[] = [];
  view: View = { from: 0, to: 1e9 };
  selection: Selection = { place: null, span: null, name: null, range: null };
  /** Tracks that are folded, hidden or pinned, by number; their order where it was changed. */
  folded = new Set<number>();
  hidden = new Set<number>();
  pinned = new Set<number>();
  order: number[] = [];
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

  /** Moves the view, within reason. */
  look(from: number, to: number): void {
    const all = this.extent();
    const whole = all.to - all.from;
    const width = Math.min(Math.max(to - from, 10), whole * 1.2);
    const middle = (from + to) / 2;
    const lowest = all.from - whole * 0.1;
    const highest = all.to + whole * 0.1;
    const start = Math.min(Math.max(middle - width / 2, lowest), Math.max(lowest, highest - width));
    this.view = { from: start, to: start + width };
    this.tell("view");
  }

  select(change: Partial<Selection>): void {
    this.selection = { ...this.selection, ...change };
    this.tell("selection");
  }
}

export const store = new Store();
