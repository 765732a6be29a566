// The overview: linked findings, top names, slow frames, leaks, errors, problems.

import { ask } from "../../api";
import { bytes, count, duration } from "../../format";
import { callPanel, lookAt, select, selectName, store } from "../../store";
import { traceLabel } from "../../timeline/names";
import { element, failure, note } from "../../widgets/dom";
import { showRow, when } from "../../widgets/jump";
import { contents } from "../../widgets/traces";
import type { Advice, Overview, TraceOverview } from "../../wire";
import { lasting, type Panel } from "../panel";

class OverviewPanel {
  readonly host = element("div", { class: "overview" });
  private readonly facts = element("section", { "aria-label": "Files" });
  private readonly body = element("div", { class: "within" });
  private asked = "";

  constructor() {
    this.host.append(this.facts, this.body);
  }

  /** Requests the overview again when there is another trace. */
  async update(): Promise<void> {
    this.facts.replaceChildren(contents());
    const { traces } = store.state.server;
    const asked = traces.map((trace) => [trace.state, trace.offset_ns]).join(";");
    if (asked === this.asked) return;
    this.asked = asked;
    if (this.body.childElementCount === 0) this.body.append(note("Looking for problems …"));
    if (traces.every((trace) => trace.state === "loading")) return;
    try {
      const answer = await ask("overview", {});
      if (asked === this.asked) this.fill(answer);
    } catch (error) {
      this.asked = "";
      this.body.replaceChildren(failure(error));
    }
  }

  private fill({ traces }: Overview): void {
    const made = traces.flatMap((trace) => sections(trace, traces.length > 1));
    this.body.replaceChildren(...made);
    // Scripts can wait until it is complete.
    this.host.dataset["traces"] = String(traces.length);
  }
}

function sections(trace: TraceOverview, isNamed: boolean): HTMLElement[] {
  const file = isNamed ? ` · ${traceLabel(store.state, trace.trace)}` : "";
  const lists: [string, HTMLElement[]][] = [
    ["Worth a look", trace.findings.map((one) => finding(trace, one))],
    ["Most self time", names(trace)],
    [trace.slow.some((row) => row[4]) ? "Slow" : "Longest", slow(trace)],
    ["Never freed", leaks(trace)],
    ["Log", logs(trace)],
    ["Problems in the file", problems(trace)],
  ];
  const made = lists.filter(([, items]) => items.length > 0);
  return made.map(([title, items]) =>
    element(
      "section",
      { "aria-label": title + file },
      element("h2", {}, title + file),
      element("ul", { class: "plain" }, ...items),
    ),
  );
}

function item(...children: (HTMLElement | string)[]): HTMLElement {
  return element("li", {}, ...children);
}

function link(text: string, title: string, run: () => void): HTMLElement {
  const made = element("button", { type: "button", class: "link", title }, text);
  made.addEventListener("click", run);
  return made;
}

function badge(level: string): HTMLElement {
  return element("span", { class: `badge is-${level}` }, level);
}

/** A finding as a sentence that links to its place. */
function finding({ trace }: TraceOverview, advice: Advice): HTMLElement {
  const at = advice.evidence.find((evidence) => evidence.ts_ns !== null);
  const isOfMemory = advice.rule === "leak" || advice.rule === "churn";
  const run = (): void => {
    if (isOfMemory) return callPanel("memory", { trace, list: "leaks" });
    if (selectName(advice.subject) && !at) return callPanel("tree");
    if (at?.ts_ns === undefined || at.ts_ns === null) return showName(trace, advice.subject, "findings");
    const dur = at.unit === "ns" ? at.value : undefined;
    if (dur === undefined) {
      lookAt(at.ts_ns);
      if (!store.state.server.traces[trace]?.logs) return;
      // The log jumps to the line of a selected time.
      select({ range: { from: at.ts_ns, to: at.ts_ns + 1 } });
      return callPanel("log", {});
    }
    void showRow({ ts: at.ts_ns, dur, trace_id: traceId(trace) });
  };
  return item(badge(advice.weight), link(advice.message, "Show it", run));
}

function traceId(trace: number): string | undefined {
  return store.state.server.traces[trace]?.trace_id;
}

/** Shows the callers of a name: in the call tree, or from the sums of a profile without individual calls. */
function showName(trace: number, name: string, otherwise: "findings" | "stats"): void {
  if (selectName(name)) callPanel("tree");
  else if (store.state.server.traces[trace]?.has_calls) callPanel("source", { trace, sub: name });
  else callPanel(otherwise);
}

function names({ trace, names, all_names }: TraceOverview): HTMLElement[] {
  const rows = names.map(([name, calls, self, share]) => {
    const row = item(
      element("span", { class: "number" }, duration(self)),
      element("span", { class: "number note" }, `${(100 * share).toFixed(1)} %`),
      link(name, `${count(calls)} calls; select it`, () => showName(trace, name, "stats")),
    );
    row.className = "figure";
    row.style.setProperty("--part", `${100 * share}%`);
    return row;
  });
  if (all_names > names.length)
    rows.push(item(link(`and ${count(all_names - names.length)} more`, "All names", () => callPanel("stats"))));
  return rows;
}

function slow({ trace, slow }: TraceOverview): HTMLElement[] {
  return slow.map(([name, ts, dur, median, isSlow, cause]) => {
    const times = median > 0 ? `, ${(dur / median).toFixed(1)} × the median` : "";
    const show = (): void => void showRow({ ts, dur, trace_id: traceId(trace) });
    const text = `${name} ${duration(dur)} at ${when(ts)}`;
    return item(
      link(text, "Show it", show),
      element("span", { class: "note" }, `${times}${isSlow ? `: ${cause}` : ""}`),
    );
  });
}

function leaks({ trace, leaks }: TraceOverview): HTMLElement[] {
  const show = (): void => callPanel("memory", { trace, list: "leaks" });
  return leaks.map(([place, blocks, size]) =>
    item(
      link(place, "Show what was never freed", show),
      element("span", { class: "note" }, ` ${bytes(size)} in ${count(blocks)}`),
    ),
  );
}

function logs({ levels, errors }: TraceOverview): HTMLElement[] {
  const counted = levels.map(([level, lines]) =>
    link(`${count(lines)} ${level}`, "Show these lines", () => callPanel("log", { levels: [level] })),
  );
  const lines = errors.map(([ts, level, message]) => {
    const show = (): void => {
      if (ts !== null) lookAt(ts);
      callPanel("log", { levels: [level] });
    };
    return item(element("span", { class: "note" }, ts === null ? "" : `${when(ts)} `), link(message, "Show it", show));
  });
  return counted.length === 0
    ? []
    : [item(...counted.flatMap((one, at) => (at === 0 ? [one] : [" · ", one]))), ...lines];
}

function problems({ badge: state, problems }: TraceOverview): HTMLElement[] {
  if (problems.length === 0) return [];
  const level = state === "fine" ? "low" : "high";
  const rows = problems.map(([severity, message, times]) =>
    item(
      badge(severity),
      link(message, "All problems", () => callPanel("findings")),
      element("span", { class: "note" }, times > 1 ? ` ${count(times)} times` : ""),
    ),
  );
  return [item(element("span", { class: `badge is-${level}` }, state)), ...rows];
}

export const overview: Panel = {
  id: "overview",
  title: "Overview",
  isUseful: ({ server }) => server.traces.length > 0,
  create: () => lasting(() => new OverviewPanel()),
};
