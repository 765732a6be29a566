// Asks for the text of a note.

import { complain } from "../header";
import { store } from "../store";
import { element } from "../widgets/dom";
import { when } from "../widgets/jump";
import { aboutSelection, addNote, changeNote, noteTime, type Noted } from "./notes";

/** Asks for a note on the selection. */
export function askNote(dialog: HTMLDialogElement): void {
  const about = aboutSelection(store.state);
  if (about) askText(dialog, "Add a note", about, (text) => addNote({ ...about, note: { ...about.note, text } }));
}

/** Asks for another text; an empty text removes the note. */
export function editNote(dialog: HTMLDialogElement, noted: Noted): void {
  askText(dialog, "Change the note", noted, (text) =>
    text === "" ? changeNote(noted) : changeNote(noted, { ...noted.note, text }),
  );
}

function askText(dialog: HTMLDialogElement, title: string, noted: Noted, take: (text: string) => Promise<void>): void {
  const input = element("input", { value: noted.note.text, "aria-label": "Note", maxlength: "1000" });
  const place = `${noted.note.name ?? ""} at ${when(noteTime(store.state, noted))}`.trim();
  const form = element(
    "form",
    { method: "dialog" },
    element("h2", {}, title),
    element("p", { class: "note" }, place),
    input,
    element("button", {}, "Save"),
  );
  form.addEventListener("submit", () => {
    const text = input.value.trim();
    if (text === "" && noted.note.text === "") return;
    take(text).catch(complain);
  });
  dialog.replaceChildren(form);
  dialog.showModal();
  input.select();
}
