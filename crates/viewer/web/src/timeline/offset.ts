// Moves traces on the axis.

import { send } from "../api";
import { parseTime } from "../format";
import { element } from "../panels/panel";
import { store } from "../store";
import { traceLabel } from "./layout";

/** Sets how far a trace is moved; the page follows when the server tells. */
export async function setOffset(trace: number, ns: number): Promise<void> {
  await send("offset", { trace, offset_ns: BigInt(Math.round(ns)).toString() });
  store.tell("moved");
}

/** Offsets that put all traces at their times of day; none where one of them does not know it. */
function byClock(): number[] | null {
  const origins = store.state.traces.map((trace) => trace.unix_origin_ns);
  const known = origins.filter((origin) => origin !== null).map((origin) => BigInt(origin));
  if (known.length !== origins.length || known.length === 0) return null;
  const first = known.reduce((least, origin) => (origin < least ? origin : least));
  return known.map((origin) => Number(origin - first));
}

/** Offsets that let all traces begin together. */
function fromStart(): number[] {
  return store.state.traces.map((trace) => -trace.from_ns);
}

/** Asks how far to move a trace. */
export function askOffset(trace: number): void {
  const dialog = document.getElementById("dialog") as HTMLDialogElement;
  const now = store.state.traces[trace]?.offset_ns ?? 0;
  const input = element("input", { value: `${now / 1e6}ms`, "aria-label": "Offset", spellcheck: "false" });
  const error = element("p", { class: "error", role: "alert" });
  const choices = element("p", { class: "choices" });
  const choose = (text: string, offsets: () => number[]): void => {
    const made = element("button", { type: "button" }, text);
    made.addEventListener("click", () => {
      dialog.close();
      void Promise.all(offsets().map((ns, number) => setOffset(number, ns)));
    });
    choices.append(made);
  };
  choose("All from their origins", () => store.state.traces.map(() => 0));
  choose("All begin together", fromStart);
  const clock = byClock();
  if (clock) choose("All by their time of day", () => clock);
  const form = element(
    "form",
    { method: "dialog" },
    element("h3", {}, `Move ${traceLabel(trace)}`),
    element("p", { class: "note" }, "Later by, or earlier with a minus: 1.5s, -250ms, 12us"),
    input,
    element("button", {}, "Move"),
    error,
    choices,
  );
  form.addEventListener("submit", (event) => {
    const ns = parseTime(input.value);
    if (ns === null) {
      event.preventDefault();
      error.textContent = "A time is a number with a unit, such as 1.5s or -250ms.";
      return;
    }
    void setOffset(trace, ns);
  });
  dialog.replaceChildren(form);
  dialog.showModal();
  input.select();
}
