// Asks for a time and goes there.

import { moment, parseTime } from "./format";
import { toast } from "./header";
import { look, store, viewWidth } from "./store";
import { extent, openTraces } from "./store/state";
import { element } from "./widgets/dom";

export function goto(dialog: HTMLDialogElement): void {
  askTime(dialog, {
    title: "Go to a time",
    label: "Time",
    button: "Go",
    placeholder: "1.5s, 250ms",
    mistake: "A time is a number with a unit, such as 1.5s or 250ms.",
    take: (at) => {
      const half = viewWidth(store.state.view) / 2;
      look(at - half, at + half);
      const { from, to } = extent(store.state);
      const [what, s] = openTraces(store.state).length > 1 ? ["traces", ""] : ["trace", "s"];
      if (at > to) toast(`The ${what} end${s} at ${moment(to)}.`);
      else if (at < from) toast(`The ${what} start${s} at ${moment(from)}.`);
    },
  });
}

/** Options of the dialog that asks for a time. */
export interface TimeQuestion {
  title: string;
  label: string;
  button: string;
  placeholder?: string;
  value?: string;
  note?: string;
  /** Shown if the text is not a time. */
  mistake: string;
  /** Other choices. */
  more?: HTMLElement[];
  take(ns: number): void;
}

/** Asks for a time in a dialog. */
export function askTime(dialog: HTMLDialogElement, question: TimeQuestion): void {
  const { placeholder = "", value = "", note, more = [] } = question;
  const input = element("input", { placeholder, value, "aria-label": question.label, spellcheck: "false" });
  const error = element("p", { class: "error", role: "alert" });
  const form = element(
    "form",
    { method: "dialog" },
    element("h2", {}, question.title),
    ...(note === undefined ? [] : [element("p", { class: "note" }, note)]),
    input,
    element("button", {}, question.button),
    error,
    ...more,
  );
  form.addEventListener("submit", (event) => {
    const ns = parseTime(input.value);
    if (ns !== null) return question.take(ns);
    event.preventDefault();
    error.textContent = question.mistake;
  });
  dialog.replaceChildren(form);
  dialog.showModal();
  input.select();
}
