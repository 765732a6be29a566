// The context of a span: callers, callees, flows, and what happened during it.

import { ask } from "../../api";
import { count, duration, moment, share } from "../../format";
import { callPanel, reveal, selectInside, store } from "../../store";
import { openTraces } from "../../store/state";
import { alignOthers, anchorOf, holdOrMeet } from "../../timeline/align";
import { trackLabel } from "../../timeline/names";
import { paint } from "../../theme";
import { element, facts } from "../../widgets/dom";
import { showSpan } from "../../widgets/jump";
import { ChildRow, type Around, type Found, type SpanDetails, type Totals } from "../../wire";
import { insides } from "./inside";

/** The known context of a span. */
export interface Explained {
  around: Around;
  inside: Totals | null;
}

/** Requests the context of the selected span. */
export async function explain(span: SpanDetails, signal: AbortSignal): Promise<Explained | null> {
  const { place } = store.state.selection;
  if (!place) return null;
  const [around, inside] = await Promise.all([
    ask("around", { ...place }, signal),
    span.dur_ns ? ask("totals", { ...times(span), tracks: String(span.track) }, signal) : null,
  ]);
  return { around, inside };
}

function times(span: SpanDetails): { from: number; to: number } {
  return { from: span.ts_ns, to: span.ts_ns + (span.dur_ns ?? 0) };
}

type Add = (title: string, hint: string, run: () => void, isUsable?: boolean) => void;

/** Buttons in a row. */
function tools(fill: (add: Add) => void): HTMLElement {
  const host = element("div", { class: "tools" });
  fill((title, hint, run, isUsable = true) => {
    const button = element("button", { type: "button", title: hint }, title);
    button.disabled = !isUsable;
    button.addEventListener("click", run);
    host.append(button);
  });
  return host;
}

/** The actions for a span. */
export function actions(span: SpanDetails): HTMLElement {
  return tools((add) => {
    addActions(span, add);
    addAligning(add);
  });
}

/** The actions for an event. */
export function eventActions(): HTMLElement {
  return tools(addAligning);
}

/** Several traces can be aligned at the selection. */
function addAligning(add: Add): void {
  const { held } = store.state;
  if (openTraces(store.state).length < 2) return;
  const others =
    "Move the other traces so that their span or event with the same name and number starts at this time (o)";
  add("Align others", others, alignOthers);
  const isOther = held !== null && held.trace !== anchorOf(store.state)?.trace;
  const [title, hint] = isOther
    ? [`Align with ${held.name}`, `Move this trace so that this span starts together with ${held.name} (O)`]
    : ["Hold", "Remember this span, to align one of another trace with it (O)"];
  add(title, hint, holdOrMeet);
}

function addActions(span: SpanDetails, add: Add): void {
  const own = (): void => selectInside(span);
  add("Zoom", "Zoom to it (f)", () => reveal({ kind: "selection" }));
  add("Previous", "The previous span of this name (p)", () => reveal({ kind: "step", isBack: true }));
  add("Next", "The next span of this name (n)", () => reveal({ kind: "step", isBack: false }));
  add("Call tree", "The call tree of this span", () => (own(), callPanel("tree")), span.dur_ns !== null);
  add("Flame graph", "The flame graph of this span", () => (own(), callPanel("flame")), span.dur_ns !== null);
  add("Histogram", "All spans of this name", () => callPanel("histogram"));
  if (span.file !== null)
    add("Source", "The source line", () =>
      callPanel("source", { trace: span.trace, path: span.file ?? undefined, line: span.line ?? undefined }),
    );
  if (store.state.server.sql) add("SQL", "Query the table", () => callPanel("sql", { text: sqlOf(span), run: true }));
}

/** A query for the row of a span. */
function sqlOf(span: SpanDetails): string {
  const trace = store.state.server.traces[span.trace]?.trace_id;
  const where = trace === undefined ? "" : `trace_id = ${trace} and `;
  return `select * from spans\nwhere ${where}id = ${span.id}`;
}

/** The thread of a span, and its callers as links. */
export function callers(span: SpanDetails, around: Around | null): HTMLElement {
  const way = element("nav", { class: "way", "aria-label": "Callers" });
  const label = trackLabel(store.state, span.track);
  way.append(button(label, "Show the thread", () => reveal({ kind: "track", track: span.track })));
  for (const found of around?.ancestors ?? []) way.append(link(found));
  way.append(element("b", {}, span.name));
  return way;
}

/** The callees and flows of a span, and a comparison with other spans of its name. */
export function sections(span: SpanDetails, { around, inside }: Explained): HTMLElement[] {
  const made: HTMLElement[] = [];
  if (around.children.length > 0) made.push(section("Calls", children(span, around)));
  const flows = [
    ...around.flows_in.map((found) => ["from", found] as const),
    ...around.flows_out.map((found) => ["to", found] as const),
  ];
  if (flows.length > 0) {
    const list = element("ul", { class: "plain" });
    for (const [side, found] of flows) {
      const where = `${trackLabel(store.state, found.track)} · ${moment(found.ts_ns)}`;
      list.append(element("li", {}, `${side} `, link(found), element("span", { class: "note" }, ` ${where}`)));
    }
    if (around.more_flows > 0) list.append(element("li", { class: "note" }, `and ${count(around.more_flows)} more`));
    made.push(section("Flows", list));
  }
  const { same } = around;
  if (same.count > 1) {
    const rank = same.longer === 0 ? "this is the longest" : `${count(same.longer)} are longer than this one`;
    const rows: [string, string][] = [
      ["spans", `${count(same.count)}; ${rank}`],
      ["min", duration(same.min_ns)],
      ["median", duration(same.p50_ns)],
      ["p95", duration(same.p95_ns)],
      ["max", duration(same.max_ns)],
    ];
    made.push(section("Of this name", facts(rows)));
  }
  const rows = inside ? insides(inside) : [];
  if (rows.length > 0) made.push(section("During it", facts(rows, { "data-inside": "" })));
  return made;
}

function children(span: SpanDetails, around: Around): HTMLElement {
  const list = element("ul", { class: "plain shares" });
  const whole = span.dur_ns ?? 0;
  for (const row of around.children) {
    const [, calls, total, longest] = row;
    const item = element(
      "li",
      {},
      element("span", { class: "number" }, duration(total)),
      element("span", { class: "number note" }, whole > 0 ? share(total, whole) : ""),
      element("span", { class: "number note" }, calls > 1 ? `${count(calls)} ×` : ""),
      link(longest),
    );
    item.style.setProperty("--part", `${whole > 0 ? (100 * row[ChildRow.total_ns]) / whole : 0}%`);
    list.append(item);
  }
  if (around.more_children > 0)
    list.append(element("li", { class: "note" }, `and ${count(around.more_children)} more names`));
  return list;
}

function section(title: string, content: HTMLElement): HTMLElement {
  return element("section", {}, element("h2", {}, title), content);
}

function link(found: Found): HTMLElement {
  const name = store.state.names.text(found.name);
  const about = found.dur_ns === null ? name : `${name}: ${duration(found.dur_ns)} at ${moment(found.ts_ns)}`;
  const made = button(name, about, () => showSpan(found));
  made.prepend(element("i", { class: "swatch", style: `background: ${paint(found.name).css}` }));
  return made;
}

function button(text: string, title: string, run: () => void): HTMLButtonElement {
  const made = element("button", { type: "button", class: "link", title }, text);
  made.addEventListener("click", run);
  return made;
}
