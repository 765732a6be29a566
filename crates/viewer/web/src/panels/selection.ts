// What is selected.

import { bytes, count, duration, moment } from "../format";
import { store } from "../store";
import { describe } from "../timeline/timeline";
import { element, note, type Panel } from "./panel";

export const selection: Panel = {
  id: "selection",
  title: "Selection",
  isUseful: () => true,
  show(host) {
    const { span, range } = store.selection;
    if (range) host.append(element("p", {}, `From ${moment(range.from)} to ${moment(range.to)}: ${duration(range.to - range.from)}`));
    if (span) host.append(...describe(span));
    if (!span && !range) host.append(note("Click a span, or drag on the ruler to select a stretch of time. ? shows the keys."), overview());
  },
};

function overview(): HTMLElement {
  const list = element("dl");
  store.state.traces.forEach((trace) => {
    const spans = store.state.tracks.reduce((sum, track) => sum + track.spans, 0);
    const facts = [`${trace.format} ${trace.version}`, bytes(trace.bytes), `${count(spans)} spans`, duration(trace.to_ns - trace.from_ns)];
    if (trace.findings > 0) facts.push(`${count(trace.findings)} findings`);
    list.append(element("dt", {}, trace.path), element("dd", {}, trace.error ?? facts.join(" · ")));
  });
  return list;
}
