// The selection panel.

import { ask } from "../../api";
import { count, duration, moment, share } from "../../format";
import { store } from "../../store";
import { trackLabel } from "../../timeline/names";
import { Latest } from "../../widgets/busy";
import { describe, describeEvent } from "../../widgets/describe";
import { element, facts, failure, note } from "../../widgets/dom";
import { contents } from "../../widgets/traces";
import type { RangeQuery, SpanDetails, Totals } from "../../wire";
import { fresh, type Panel, type Watch } from "../panel";
import { actions, callers, eventActions, explain, sections, type Explained } from "./around";
import { insides } from "./inside";

class SelectionPanel {
  private asked = 0;
  private known: { key: string; totals: Totals } | null = null;
  private readonly latest = new Latest();
  private explained: { of: SpanDetails; what: Explained } | null = null;

  constructor(private readonly host: HTMLElement) {}

  watch(watch: Watch): void {
    watch(
      ({ held }) => held,
      () => void this.update(),
    );
  }

  async update(): Promise<void> {
    const number = ++this.asked;
    const { span, event, range } = store.state.selection;
    const parts: HTMLElement[] = [];
    if (span) parts.push(...this.spanParts(span));
    else if (event) parts.push(element("header", {}, eventActions()), element("section", {}, ...describeEvent(event)));
    if (!range) {
      if (parts.length === 0) parts.push(note(INVITATION), contents());
      return this.show(parts);
    }
    const query = queried();
    const key = `${store.state.server.revision} ${JSON.stringify(query)}`;
    if (this.known?.key === key) return this.show([...parts, boxed(this.known.totals)]);
    const say = (text: HTMLElement): void => {
      if (number === this.asked) this.show([...parts, element("section", {}, ...heading(), text)]);
    };
    // The old totals stay until the new ones arrive, unless that takes long.
    const waiting = setTimeout(() => say(note("Adding up …")), 150);
    try {
      const totals = await ask("totals", query);
      this.known = { key, totals };
      if (number === this.asked) this.show([...parts, boxed(totals)]);
    } catch (error) {
      say(failure(error));
    } finally {
      clearTimeout(waiting);
    }
  }

  /** The known details of a span; the rest is requested once. */
  private spanParts(span: SpanDetails): HTMLElement[] {
    const known = this.explained?.of === span ? this.explained.what : null;
    if (!known) void this.ask(span);
    return [
      element("header", {}, callers(span, known?.around ?? null), actions(span)),
      element("section", {}, ...describe(span)),
      ...(known ? sections(span, known) : []),
    ];
  }

  private async ask(span: SpanDetails): Promise<void> {
    // The context of a span is optional; without it, the span is still described.
    const what = await this.latest.ask((signal) => explain(span, signal)).catch(() => null);
    if (!what || store.state.selection.span !== span) return;
    this.explained = { of: span, what };
    await this.update();
  }

  private show(parts: HTMLElement[]): void {
    const focused = document.activeElement;
    const at = this.host.contains(focused) ? [...this.host.querySelectorAll("button")].indexOf(focused as never) : -1;
    this.host.replaceChildren(element("div", { class: "columns" }, ...parts));
    if (at >= 0) this.host.querySelectorAll("button")[at]?.focus();
  }
}

const INVITATION =
  "Click a span, or drag on the ruler to select a time range; shift + drag selects tracks too. ? shows the keys.";

function queried(): RangeQuery {
  const { range, tracks } = store.state.selection;
  const times = { from: Math.round(range?.from ?? 0), to: Math.round(range?.to ?? 0) };
  return tracks ? { ...times, tracks: tracks.join() } : times;
}

function heading(): HTMLElement[] {
  const { range, tracks } = store.state.selection;
  if (!range) return [];
  const [from, to] = [moment(range.from), moment(range.to)];
  return [
    element("strong", {}, duration(range.to - range.from)),
    element("span", { class: "note" }, `  ${from} to ${to} · ${tracksNamed(tracks)}`),
  ];
}

function tracksNamed(tracks: readonly number[] | null): string {
  if (tracks === null) return "all tracks";
  return tracks.length <= 3
    ? tracks.map((track) => trackLabel(store.state, track)).join(", ")
    : `${tracks.length} tracks`;
}

/** The rows that start in the box, counted as in `traceloom stats`. */
function boxed(totals: Totals): HTMLElement {
  const { range } = store.state.selection;
  const long = (range?.to ?? 0) - (range?.from ?? 0);
  const threads = totals.threads > 1 ? `, ${count(totals.threads)} threads` : "";
  const rows: [string, string][] = [
    ["spans", `${count(totals.spans)}${totals.unclosed > 0 ? ` and ${count(totals.unclosed)} never closed` : ""}`],
    ["names", count(totals.names)],
    ["sum", duration(totals.total_ns)],
    ["busy", `${duration(totals.busy_ns)}  (${share(totals.busy_ns, long)} of the time${threads})`],
    ["average", totals.spans > 0 ? duration(totals.total_ns / totals.spans) : ""],
    ["events", totals.events > 0 ? count(totals.events) : ""],
    ...insides(totals),
  ];
  // For a log or a memory trace, spans are omitted.
  if (totals.spans + totals.unclosed === 0 && rows.length > 5) rows.splice(0, 4);
  return element("section", {}, ...heading(), facts(rows, { "data-totals": "" }));
}

export const selection: Panel = {
  id: "selection",
  title: "Selection",
  isUseful: () => true,
  create: () => fresh((host) => new SelectionPanel(host)),
};
