// The open traces and their contents.

import { bytes, count, duration } from "../format";
import { store } from "../store";
import { element } from "./dom";

function several(number: number, what: string): string {
  return `${count(number)} ${what}${number === 1 ? "" : "s"}`;
}

/** Each trace with its format, size and contents. */
export function contents(): HTMLElement {
  const { traces, tracks } = store.state.server;
  const list = element("dl");
  traces.forEach((trace, number) => {
    if (trace.state === "closed") return;
    const own = tracks.filter((track) => track.trace === number);
    const spans = own.reduce((sum, track) => sum + track.spans, 0);
    const events = own.reduce((sum, track) => sum + track.events, 0);
    const told = [`${trace.format} ${trace.version}`, bytes(trace.bytes)];
    if (trace.to_ns > trace.from_ns) told.push(duration(trace.to_ns - trace.from_ns));
    if (spans > 0) told.push(several(spans, "span"));
    if (events > 0) told.push(several(events, "event"));
    if (trace.logs > 0) told.push(several(trace.logs, "log line"));
    if (trace.memory !== null) told.push(`peak memory ${bytes(trace.memory)}`);
    if (own.length > 1) told.push(`${count(own.length)} threads`);
    if (trace.findings > 0) told.push(several(trace.findings, "problem"));
    list.append(element("dt", {}, trace.path), element("dd", {}, told.join(" · ")));
    if (trace.error) list.append(element("dt", {}, ""), element("dd", { class: "error" }, trace.error));
  });
  return list;
}
