// One log line with all its details.

import { ask } from "../../api";
import { moment } from "../../format";
import { lookAt } from "../../store";
import { element, facts, failure } from "../../widgets/dom";
import type { LogDetails, LogRow } from "../../wire";

/** The details of a line: first those that are known at once, then the others. */
type Known = Pick<LogDetails, "ts_ns" | "level" | "file" | "line" | "text"> &
  Partial<Pick<LogDetails, "format" | "args">>;

/** The chosen line next to the log. */
export class LineDetails {
  readonly host = element("aside", { class: "aside", "aria-label": "The chosen line", hidden: "" });
  private latest = 0;

  hide(): void {
    this.host.hidden = true;
  }

  /** Shows a line: first its text, then its arguments. */
  async show(row: LogRow): Promise<void> {
    const turn = ++this.latest;
    const [number, ts_ns, level, file, line, text] = row;
    this.host.hidden = false;
    this.fill({ ts_ns, level, file, line, text });
    try {
      const details = await ask("log/line", { number });
      if (turn === this.latest) this.fill(details);
    } catch (error) {
      if (turn === this.latest) this.host.append(failure(error));
    }
  }

  private fill(details: Known): void {
    const { ts_ns: ts, level, file, line, text, format, args } = details;
    const rows: [string, string][] = [
      ["at", ts === null ? "" : moment(ts)],
      ["level", level],
      ["where", file ? `${file}${line === null ? "" : `:${line}`}` : ""],
      ["format", format ?? ""],
    ];
    this.host.replaceChildren(
      tools(ts, text),
      element("p", { class: "code wrap" }, text),
      facts(rows),
      ...(args && args.length > 0 ? [element("h2", {}, "Arguments"), listed(args)] : []),
    );
  }
}

function tools(ts: number | null, text: string): HTMLElement {
  const title = "Show this time in the timeline (Enter)";
  const show = element("button", { type: "button", title }, "Show in timeline");
  show.disabled = ts === null;
  show.addEventListener("click", () => ts !== null && lookAt(ts));
  const copy = element("button", { type: "button", title: "Copy the text (Ctrl+C)" }, "Copy");
  const copied = (): void => void (copy.textContent = "Copied");
  copy.addEventListener("click", () => void navigator.clipboard.writeText(text).then(copied));
  return element("div", { class: "tools" }, show, copy);
}

function listed(args: NonNullable<LogDetails["args"]>): HTMLElement {
  const values = element("dl", { class: "args" });
  for (const [key, idx, kind, value] of args) {
    const name = idx === null ? key : `${key}[${idx}]`;
    values.append(element("dt", { title: kind }, name), element("dd", { class: "code" }, value ?? "null"));
  }
  return values;
}

/** A time of day, to the microsecond. */
export function timeOfDay(ts: number, unixOriginNs: string): string {
  // The origin does not fit into a number, and neither does its sum with a time.
  const ns = BigInt(unixOriginNs) + BigInt(Math.round(ts));
  const day = new Date(Number(ns / 1_000_000n));
  const micros = String((ns / 1_000n) % 1_000_000n).padStart(6, "0");
  return Number.isNaN(day.getTime()) ? "" : `${day.toISOString().slice(0, 19).replace("T", " ")}.${micros}`;
}
