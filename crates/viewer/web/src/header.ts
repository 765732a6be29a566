// The line above the timeline, and what is said about the traces as a whole.

import { bytes } from "./format";
import { store } from "./store";
import { baseName, isLoading } from "./store/state";
import { byId } from "./widgets/dom";

/** Why something is said: each reason takes back only its own words. */
type Reason = "dropped" | "failed" | "lost";

/** Says something over the timeline; no text takes it back. */
export function say(text: string, why: Reason): void {
  const notice = byId("notice");
  if (text === "" && notice.dataset["why"] !== why) return;
  notice.textContent = text;
  notice.dataset["why"] = text === "" ? "" : why;
  notice.hidden = text === "";
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
  const { traces } = store.state.server;
  const names = traces.map((trace) => baseName(trace.path));
  const [only] = traces;
  const about =
    traces.length === 1 && only
      ? [names[0], `${only.format} ${only.version}`.trim(), bytes(only.bytes)]
      : [names.join(", ")];
  const line = byId("traces");
  line.textContent = about.filter((text) => text !== "").join(" · ");
  line.title = traces.map((trace) => trace.path).join("\n");
  document.title = `${names.join(", ").slice(0, 80)} – Traceloom`;
  showFailures();
}

function showFailures(): void {
  const { traces } = store.state.server;
  const failed = traces.filter((trace) => trace.state === "failed").map((trace) => trace.error ?? "");
  const empty = byId("empty");
  empty.hidden = !isEmpty() || isLoading(store.state);
  empty.textContent =
    failed.length > 0
      ? failed.join("\n")
      : "There is nothing on a time axis in this trace. The panels below show what there is.";
  say(failed.length > 0 && !isEmpty() ? `${failed.join(" ")} What was read is shown.` : "", "failed");
}

/** Whether nothing has a time. */
function isEmpty(): boolean {
  const { from_ns, traces, tracks, logs, counters } = store.state.server;
  const hasTracks = tracks.some((track) => track.spans + track.events + track.switches > 0);
  const hasMore = logs > 0 || counters.length > 0 || traces.some((trace) => trace.memory !== null);
  return from_ns === null || !(hasTracks || hasMore);
}

function showProgress(): void {
  const { read_bytes, total_bytes } = store.state.server;
  const part = total_bytes > 0 ? Math.min(1, read_bytes / total_bytes) : 0;
  const isOn = isLoading(store.state);
  const host = byId("progress");
  (host.firstElementChild as HTMLElement).style.width = isOn ? `${100 * part}%` : "0";
  host.setAttribute("aria-valuenow", String(Math.round(100 * part)));
  byId("status").textContent = isOn ? `reading ${Math.floor(100 * part)} % of ${bytes(total_bytes)}` : "";
}
