// The shared state of the flame graph and the call tree, which show the same stacks.

import { bytes, count, duration } from "../format";
import { keepLink, linkOf, store, type PageState } from "../store";
import type { FlameLink } from "../store/panels";
import { comparedTraces } from "../store/compared";
import { selectedAt } from "../store/state";
import type { Choice } from "../widgets/dom";
import { when } from "../widgets/jump";
import type { FlameQuery, FlameView, FlameWeight, GraphStep } from "../wire";

export function hasSpans({ server }: PageState = store.state): boolean {
  return server.tracks.some((track) => track.spans > 0);
}

/** Whether there are spans or sums of calls. */
export function hasTimes(state: PageState = store.state): boolean {
  return hasSpans(state) || state.server.traces.some((trace) => trace.has_calls);
}

export function hasMemory({ server }: PageState = store.state): boolean {
  return server.traces.some((trace) => trace.memory !== null);
}

const VIEWS: readonly FlameView[] = ["top", "bottom", "sandwich"];
const OF_TIME: readonly FlameWeight[] = ["time", "self", "count"];
const OF_MEMORY: readonly FlameWeight[] = ["bytes", "peak", "leaked", "temporary", "alive"];

/** The saved choices, as far as they apply to these traces. */
export function kept(): Required<FlameLink> {
  const state = linkOf("flame");
  const isUsable = (weight: FlameWeight): boolean =>
    isOfMemory(weight) ? hasMemory() : weight === "count" || hasTimes();
  const wanted = [...OF_TIME, ...OF_MEMORY].find((weight) => weight === state?.weight && isUsable(weight));
  return {
    weight: wanted ?? (hasTimes() || !hasMemory() ? "time" : "bytes"),
    view: VIEWS.find((view) => view === state?.view) ?? "top",
    path: Array.isArray(state?.path) ? state.path.filter((name): name is string => typeof name === "string") : [],
    name: typeof state?.name === "string" ? state.name : null,
    threads: state?.threads === true,
    at: typeof state?.at === "number" ? Math.round(state.at) : null,
    steps: Array.isArray(state?.steps) ? state.steps.filter(isStep) : [],
    compares: state?.compares === true && comparedTraces() !== null,
  };
}

const STEPS: readonly GraphStep["kind"][] = ["focus", "collapse", "merge", "drop"];

function isStep(value: unknown): value is GraphStep {
  const step = value as GraphStep | null;
  return typeof step?.name === "string" && STEPS.includes(step.kind);
}

export function keep(change: FlameLink): void {
  keepLink("flame", { ...kept(), ...change });
}

/** The query for the server, without the range and the view. */
export function stacksQuery(): FlameQuery {
  const { weight, threads, steps } = kept();
  return { weight, by_thread: threads, steps, at: weight === "alive" ? at() : null };
}

/** The time for the weight `alive`. */
function at(): number | null {
  const selected = selectedAt(store.state.selection) ?? store.state.selection.range?.to;
  return kept().at ?? (selected === undefined ? null : Math.round(selected));
}

/** The available weights. */
export function weights(): Choice<FlameWeight>[] {
  const what = hasSpans() ? "spans" : "allocations";
  const choices: Choice<FlameWeight>[] = [
    { id: "time", title: "Time", hint: "Total time", isDisabled: !hasTimes() },
    { id: "self", title: "Self", hint: "Self time", isDisabled: !hasTimes() },
    { id: "count", title: "Count", hint: `The number of ${what}` },
    { id: "bytes", title: "Bytes", hint: "Bytes allocated", isDisabled: !hasMemory() },
  ];
  if (!hasMemory()) return choices;
  const ts = at();
  choices.push(
    { id: "peak", title: "At the peak", hint: "Bytes in use at the memory peak" },
    { id: "leaked", title: "Never freed", hint: "Bytes still in use at the end" },
    { id: "temporary", title: "Temporary", hint: "Bytes freed by the next event" },
  );
  if (ts !== null) choices.push({ id: "alive", title: `At ${when(ts)}`, hint: "Bytes in use at this time" });
  return choices;
}

export function isOfMemory(weight: FlameWeight): boolean {
  return OF_MEMORY.includes(weight);
}

/** A weight as text. */
export function amount(value: number): string {
  const { weight } = kept();
  if (weight === "count") return count(value);
  return isOfMemory(weight) ? bytes(value) : duration(value);
}

/** The noun for counts. */
export function unit(isEstimate: boolean): string {
  return isOfMemory(kept().weight) || !hasTimes() ? "allocations" : isEstimate ? "calls" : "spans";
}
