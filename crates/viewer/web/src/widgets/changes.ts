// A comparison as a table: slower, faster, new, gone.

import { bytes, count, duration } from "../format";
import { ChangeRow, type Changes } from "../wire";
import { element, note } from "./dom";
import { table, type TableElement } from "./table";

export interface ChangesEvents {
  /** A row was clicked. */
  choose(row: ChangeRow): void;
  /** Enter or a double click. */
  open(row: ChangeRow): void;
}

export class ChangesList {
  readonly host = element("div", { class: "changes" });
  private readonly sums = element("p", { class: "note" });
  private readonly list = element("div");
  private rows: TableElement<ChangeRow> | null = null;

  constructor(private readonly events: ChangesEvents) {}

  fill({ rows, all, self_ns: [before, after] }: Changes): void {
    // Scripts can wait for this.
    this.host.dataset["compared"] = String(all);
    const counted = ["worse", "better", "new", "gone", "same"].map((verdict) => {
      const number = rows.filter((row) => row[ChangeRow.verdict] === verdict).length;
      return number > 0 ? `${count(number)} ${WORDS[verdict] ?? verdict}` : "";
    });
    const cut = all > rows.length ? `the first ${count(rows.length)} of ${count(all)} are listed` : "";
    const time = before + after > 0 ? `self time ${duration(before)} → ${duration(after)}` : "";
    this.sums.textContent = [time, ...counted, cut].filter((part) => part !== "").join(" · ");
    this.host.replaceChildren(this.sums, this.list);
    if (rows.length === 0) {
      this.rows = null;
      this.list.replaceChildren(note("Nothing to compare."));
    } else if (this.rows) {
      this.rows.setRows(rows);
    } else {
      this.rows = changesTable(rows, this.events);
      this.list.replaceChildren(this.rows);
    }
  }
}

const WORDS: Record<string, string> = { worse: "slower", better: "faster" };
const ORDER = ["worse", "better", "new", "gone", "same"];

function changesTable(rows: ChangeRow[], events: ChangesEvents): TableElement<ChangeRow> {
  const amount = (row: ChangeRow, value: number | null): string =>
    value === null ? "" : row[ChangeRow.is_bytes] ? bytes(value) : duration(value);
  const percent = (part: number | null): string =>
    part === null ? "" : `${part > 0 ? "+" : ""}${(100 * part).toFixed(1)} %`;
  const verdict = (row: ChangeRow): string => row[ChangeRow.verdict];
  return table<ChangeRow>(
    [
      { title: "Name", text: named, color: (row) => COLORS[verdict(row)] ?? null },
      {
        title: "Change",
        text: (row) => percent(row[ChangeRow.change]),
        value: (row) => row[ChangeRow.change] ?? (verdict(row) === "new" ? Infinity : -Infinity),
        hint: "Change in the mean time per call, or in the bytes that a function allocates",
      },
      {
        title: "Verdict",
        text: (row) => WORDS[verdict(row)] ?? verdict(row),
        value: (row) => ORDER.indexOf(verdict(row)),
        align: "left",
      },
      {
        title: "Before",
        text: (row) => amount(row, row[ChangeRow.before]),
        value: (row) => row[ChangeRow.before] ?? -1,
        csv: "before",
      },
      {
        title: "After",
        text: (row) => amount(row, row[ChangeRow.after]),
        value: (row) => row[ChangeRow.after] ?? -1,
        csv: "after",
      },
      {
        title: "Noise",
        text: (row) => percent(row[ChangeRow.noise]).replace("+", "± "),
        value: (row) => row[ChangeRow.noise] ?? -1,
        hint: "Smaller changes may be chance; estimated from the spread of durations within one trace",
      },
      {
        title: "Calls",
        text: (row) => `${count(row[ChangeRow.calls_before])} → ${count(row[ChangeRow.calls_after])}`,
        value: (row) => row[ChangeRow.calls_after] - row[ChangeRow.calls_before],
      },
      {
        title: "Share",
        text: (row) => `${(100 * row[ChangeRow.share]).toFixed(1)} %`,
        value: (row) => row[ChangeRow.share],
        bar: (row) => row[ChangeRow.share],
        hint: "Share of the self time, on the side where it is larger",
      },
    ],
    rows,
    (row) => events.choose(row),
    { name: "changes", open: (row) => events.open(row) },
  );
}

const COLORS: Record<string, string> = { worse: "var(--bad)", better: "var(--good)", new: "var(--warn)" };

function named(row: ChangeRow): string {
  const line = row[ChangeRow.line];
  return line === null ? row[ChangeRow.name] : `${row[ChangeRow.name]}:${line}`;
}
