// Notes on times and spans; the server stores them next to the traces.

import { ask, askWith } from "../api";
import { store } from "../store";
import { readyTraces, type PageState } from "../store/state";
import type { Note } from "../wire";

/** A note and its trace. */
export interface Noted {
  readonly trace: number;
  readonly note: Note;
}

/** Reads all notes. */
export async function loadNotes(): Promise<void> {
  const { traces } = await ask("notes", {});
  store.set({ notes: traces.flatMap(({ trace, notes }) => notes.map((note) => ({ trace, note }))) });
  const wrong = traces.find(({ error }) => error !== null);
  if (wrong?.error) throw new Error(wrong.error);
}

/** Replaces one note of a trace with others: none, or the same with another text. */
export async function changeNote(old: Noted, ...others: Note[]): Promise<void> {
  await save(old.trace, [...notesOn(old.trace).filter((note) => note !== old.note), ...others]);
}

export async function addNote({ trace, note }: Noted): Promise<void> {
  await save(trace, [...notesOn(trace), note]);
}

function notesOn(trace: number): Note[] {
  return store.state.notes.filter((noted) => noted.trace === trace).map(({ note }) => note);
}

async function save(trace: number, notes: Note[]): Promise<void> {
  await askWith("notes", { trace, notes }, new AbortController().signal);
  await loadNotes();
}

/** The time of a note on the axis. */
export function noteTime({ server }: PageState, { trace, note }: Noted): number {
  return note.ts_ns + (server.traces[trace]?.offset_ns ?? 0);
}

/** The subject of a new note: the selected span, event or range, or else the middle of the view. */
export function aboutSelection(state: PageState): Noted | null {
  const { selection, server, view } = state;
  const { span, event, range } = selection;
  const first = readyTraces(state)[0];
  if (first === undefined) return null;
  const on = (trace: number, ts: number, dur: number | null, name: string | null): Noted => {
    const ts_ns = Math.round(ts - (server.traces[trace]?.offset_ns ?? 0));
    return { trace, note: { ts_ns, dur_ns: dur === null ? null : Math.round(dur), name, text: "" } };
  };
  if (span) return on(span.trace, span.ts_ns, span.dur_ns, span.name);
  if (event) return on(server.tracks[event.track]?.trace ?? first, event.ts_ns, null, event.name);
  if (range) return on(first, range.from, range.to - range.from, null);
  return on(first, (view.from + view.to) / 2, null, null);
}
