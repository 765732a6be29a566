// Notes that people made on the traces.

import { duration } from "../../format";
import { editNote } from "../../notes/ask";
import { changeNote, noteTime, type Noted } from "../../notes/notes";
import { store } from "../../store";
import { traceLabel } from "../../timeline/names";
import { byId, element, failure } from "../../widgets/dom";
import { showRow, when } from "../../widgets/jump";
import { fresh, type Panel, type Watch } from "../panel";

class NotesPanel {
  constructor(private readonly host: HTMLElement) {}

  watch(watch: Watch): void {
    watch(
      ({ notes }) => notes,
      () => this.update(),
    );
  }

  update(): void {
    const sorted = [...store.state.notes].sort(
      (one, other) => noteTime(store.state, one) - noteTime(store.state, other),
    );
    this.host.replaceChildren(element("ul", { class: "plain notes" }, ...sorted.map((noted) => this.item(noted))));
  }

  private item(noted: Noted): HTMLElement {
    const { note, trace } = noted;
    const ts = noteTime(store.state, noted);
    const button = (title: string, run: () => void): HTMLElement => {
      const made = element("button", { type: "button", class: "link" }, title);
      made.addEventListener("click", run);
      return made;
    };
    const hints = { ts, dur: note.dur_ns ?? undefined, trace_id: store.state.server.traces[trace]?.trace_id };
    const about = [note.name ?? "", note.dur_ns === null ? "" : duration(note.dur_ns)];
    if (store.state.server.traces.length > 1) about.push(traceLabel(store.state, trace));
    const drop = (): void => void changeNote(noted).catch((error: unknown) => this.host.append(failure(error)));
    return element(
      "li",
      {},
      button(when(ts), () => void showRow(note.name === null ? hints : { ...hints, name: note.name })),
      element("b", {}, note.text),
      element("span", { class: "note" }, about.filter((part) => part !== "").join(" · ")),
      button("Edit", () => editNote(byId("dialog") as HTMLDialogElement, noted)),
      button("Delete", drop),
    );
  }
}

export const notes: Panel = {
  id: "notes",
  title: "Notes",
  isUseful: (state) => state.notes.length > 0,
  create: () => fresh((host) => new NotesPanel(host)),
};
