// The part of the traces that figures are about: what is selected, what is in sight, or everything.

import { duration } from "../format";
import { panelState, rememberPanelState } from "../link";
import { store } from "../store";
import { element, switcher } from "./dom";

/** As the server is asked. */
export interface Part {
  from?: number;
  to?: number;
  tracks?: string;
}

type Scope = "selection" | "window" | "all";

interface Kept {
  scope: "window" | "all";
  /** The selection is there, but something else was asked for. */
  isOther: boolean;
}

const ID = "part";
let selected: string | null = null;

function kept(): Kept {
  const state = panelState<Partial<Kept>>(ID);
  return { scope: state?.scope === "window" ? "window" : "all", isOther: state?.isOther === true };
}

function hasSelection(): boolean {
  return store.selection.range !== null || (store.selection.tracks?.length ?? 0) > 0;
}

/** What figures are about now; a new selection is always looked at. */
function scope(): Scope {
  const { range, tracks } = store.selection;
  const now = JSON.stringify([range, tracks]);
  const isNew = selected !== null && selected !== now;
  selected = now;
  const state = kept();
  if (isNew && state.isOther) rememberPanelState(ID, { ...state, isOther: false });
  return hasSelection() && (isNew || !state.isOther) ? "selection" : state.scope;
}

/** The part to ask for. */
export function part(): Part {
  const now = scope();
  const { range, tracks } = store.selection;
  const time = now === "selection" ? range : now === "window" ? store.view : null;
  const asked: Part = {};
  if (time) [asked.from, asked.to] = [Math.round(time.from), Math.max(Math.round(time.from), Math.round(time.to))];
  if (now === "selection" && tracks && tracks.length > 0) asked.tracks = tracks.join();
  return asked;
}

/** What tells questions apart: the part, and which traces are there. */
export function partKey(asked: Part): string {
  const traces = store.state.traces.map((trace) => [trace.state, trace.offset_ns]);
  return JSON.stringify([asked, traces]);
}

/** Whether the figures are of everything. */
export function isWhole(asked: Part): boolean {
  return asked.from === undefined && asked.tracks === undefined;
}

/** The switch between the parts. */
export function partSwitch(changed: () => void): HTMLElement {
  const now = scope();
  const { range, tracks } = store.selection;
  const length = range ? duration(range.to - range.from) : "";
  const where = tracks && tracks.length > 0 ? `${tracks.length} ${tracks.length === 1 ? "track" : "tracks"}` : "";
  const what = [length, where].filter((text) => text !== "").join(", ");
  return switcher<Scope>(
    "What the figures are about",
    [
      { id: "selection", title: what === "" ? "Selection" : `Selection: ${what}`, hint: "What is selected in the timeline: drag on its ruler, or with shift", isDisabled: !hasSelection() },
      { id: "window", title: "Window", hint: "What begins in the visible window" },
      { id: "all", title: "Everything", hint: "The whole of all traces" },
    ],
    now,
    (id) => {
      const state = kept();
      rememberPanelState(ID, id === "selection" ? { ...state, isOther: false } : { scope: id, isOther: hasSelection() });
      changed();
    },
  );
}

let following: { host: HTMLElement; refresh: () => void } | null = null;
let waiting = 0;

/** Calls `refresh` when the view came to rest elsewhere and the figures are about what is in sight. */
export function followView(host: HTMLElement, refresh: () => void): void {
  following = { host, refresh };
}

store.on("view", () => {
  clearTimeout(waiting);
  waiting = window.setTimeout(() => {
    if (following?.host.isConnected && scope() === "window") following.refresh();
  }, 200);
});

/** Questions of which only the last one matters: older ones are called off. */
export class Latest {
  private last: AbortController | null = null;

  /** The answer; nothing where another question came after it. */
  async ask<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    this.last?.abort();
    const own = new AbortController();
    this.last = own;
    try {
      const answer = await work(own.signal);
      return this.last === own ? answer : undefined;
    } catch (error) {
      if (this.last !== own || own.signal.aborted) return undefined;
      throw error;
    }
  }
}

/** A line that says that something is on its way, where it takes long enough to be noticed. */
export function busyMark(): { host: HTMLElement; during<T>(work: Promise<T>): Promise<T> } {
  const host = element("div", { class: "busy" });
  let running = 0;
  return {
    host,
    async during(work) {
      running += 1;
      const shown = window.setTimeout(() => host.classList.toggle("on", running > 0), 150);
      try {
        return await work;
      } finally {
        running -= 1;
        clearTimeout(shown);
        if (running === 0) host.classList.remove("on");
      }
    },
  };
}
