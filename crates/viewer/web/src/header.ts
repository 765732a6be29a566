// The line above the timeline, and messages about the traces.

import { bytes } from "./format";
import { store } from "./store";
import { baseName, hasTimes, isLoading, openTraces } from "./store/state";
import { byId, element } from "./widgets/dom";

/** Why something is reported: each reason takes back only its own text. */
type Reason = "cut" | "failed" | "lost";

/** Texts that the user closed. */
const closed = new Set<string>();

/** Reports something over the timeline; no text takes it back. */
export function say(text: string, why: Reason): void {
  const notice = byId("notice");
  if (closed.has(text) || (text === "" && notice.dataset["why"] !== why)) return;
  const close = element("button", { class: "close", "aria-label": "Close", title: "Close" }, "×");
  close.addEventListener("click", () => {
    closed.add(text);
    notice.hidden = true;
  });
  notice.replaceChildren(element("span", {}, text), close);
  notice.dataset["why"] = text === "" ? "" : why;
  notice.hidden = text === "";
}

/** How long a toast is seen, in milliseconds; longer while the pointer is on it. */
const TOAST = 6000;

/** Reports something that goes away by itself. */
export function toast(text: string): void {
  const made = element("div", { class: "toast", role: "status" }, text);
  const close = element("button", { class: "close", "aria-label": "Close", title: "Close" }, "×");
  const remove = (): void => made.remove();
  let timer = window.setTimeout(remove, TOAST);
  made.addEventListener("pointerenter", () => clearTimeout(timer));
  made.addEventListener("pointerleave", () => (timer = window.setTimeout(remove, TOAST)));
  close.addEventListener("click", remove);
  made.append(close);
  byId("toasts").replaceChildren(made);
}

/** Reports that something did not work. */
export function complain(error: unknown): void {
  toast(sentence(error instanceof Error ? error.message : String(error)));
}

/** Shows the traces and how far loading is, from now on. */
export function followTraces(): void {
  store.subscribe(
    ({ server }) => [server.traces, server.tracks],
    () => showTraces(),
  );
  store.subscribe(
    ({ server }) => [server.traces, server.read_bytes, server.total_bytes],
    () => showProgress(),
  );
}

function showTraces(): void {
  if (store.state.stored !== null) return;
  const traces = openTraces(store.state);
  const names = traces.map((trace) => baseName(trace.path));
  const [only] = traces;
  const about =
    traces.length === 1 && only
      ? [names[0], `${only.format} ${only.version}`.trim(), bytes(only.bytes)]
      : [names.join(", ")];
  const line = byId("traces");
  line.textContent = about.filter((text) => text !== "").join(" · ");
  line.title = traces.map((trace) => trace.path).join("\n");
  document.title = names.length > 0 ? `${names.join(", ").slice(0, 80)} – Traceloom` : "Traceloom";
  showFailures();
}

function showFailures(): void {
  const traces = openTraces(store.state);
  const failed = traces.filter((trace) => trace.state === "failed");
  const errors = failed.map((trace) => sentence(trace.error ?? ""));
  const empty = byId("empty");
  empty.hidden = !isEmpty();
  empty.textContent = errors.length > 0 ? errors.join("\n") : traces.length > 0 ? NO_TIMES : NO_TRACE;
  const rest = failed.some(hasTimes) ? ["Everything before that is shown."] : [];
  say(errors.length > 0 && !isEmpty() ? [...errors, ...rest].join(" ") : "", "failed");
}

const NO_TIMES = "Nothing in this trace has a time. The panels below show its contents.";
const NO_TRACE = "Drop a trace here to open it.";

/** A message with a full stop. */
export function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** Whether nothing has a time. */
function isEmpty(): boolean {
  const { from_ns, traces, tracks, logs, counters } = store.state.server;
  const hasTracks = tracks.some((track) => track.spans + track.events + track.switches > 0);
  const hasValues = counters.some((counter) => counter.samples > 0);
  const hasMore = logs > 0 || hasValues || traces.some((trace) => trace.memory !== null);
  return from_ns === null || !(hasTracks || hasMore);
}

function showProgress(): void {
  const { read_bytes, total_bytes } = store.state.server;
  showReading(read_bytes, total_bytes, isLoading(store.state));
}

/** Shows how far loading is, or nothing if it is not on. */
export function showReading(read_bytes: number, total_bytes: number, isOn: boolean): void {
  const part = total_bytes > 0 ? Math.min(1, read_bytes / total_bytes) : 0;
  const host = byId("progress");
  (host.firstElementChild as HTMLElement).style.width = isOn ? `${100 * part}%` : "0";
  host.setAttribute("aria-valuenow", String(Math.round(100 * part)));
  // Spans are put in order after the last byte was read.
  const stage = part < 1 ? `reading ${Math.floor(100 * part)} % of ${bytes(total_bytes)}` : "arranging tracks …";
  host.classList.toggle("arranging", isOn && part >= 1);
  byId("status").textContent = isOn ? stage : "";
  byId("empty").classList.toggle("reading", isOn);
}
