// Moves traces on the axis.

import { askTime } from "../goto";
import { setOffset, store } from "../store";
import { byId, element } from "../widgets/dom";
import { byClock, fromStart } from "./offsets";
import { traceLabel } from "./names";

/** Asks how far to move a trace. */
export function askOffset(trace: number): void {
  const dialog = byId("dialog") as HTMLDialogElement;
  const { traces } = store.state.server;
  const choices = element("p", { class: "choices" });
  const choose = (text: string, offsets: number[]): void => {
    const made = element("button", { type: "button" }, text);
    made.addEventListener("click", () => {
      dialog.close();
      void Promise.all(offsets.map((ns, number) => setOffset(number, ns)));
    });
    choices.append(made);
  };
  choose(
    "All at their own times",
    traces.map(() => 0),
  );
  choose("All start together", fromStart(traces));
  const clock = byClock(traces);
  if (clock) choose("Align by time of day", clock);
  askTime(dialog, {
    title: `Move ${traceLabel(store.state, trace)}`,
    label: "Offset",
    button: "Move",
    value: `${(traces[trace]?.offset_ns ?? 0) / 1e6}ms`,
    note: "How much later, such as 1.5s; with a minus, how much earlier, such as -250ms",
    mistake: "A time is a number with a unit, such as 1.5s or -250ms.",
    more: [choices],
    take: (ns) => void setOffset(trace, ns),
  });
}
