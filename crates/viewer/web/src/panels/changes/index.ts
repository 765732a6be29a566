// How one trace differs from another: slower, faster, new, gone.

import { ask } from "../../api";
import { bytes, count, duration } from "../../format";
import { callPanel, keepLink, selectName, store } from "../../store";
import { comparedTraces, type Sides } from "../../store/compared";
import { readyTraces } from "../../store/state";
import { keep } from "../../stacks/kept";
import { traceLabel } from "../../timeline/names";
import { BusyMark, Latest } from "../../widgets/busy";
import { element, failure, note } from "../../widgets/dom";
import { table, type TableElement } from "../../widgets/table";
import { ChangeRow, type Changes } from "../../wire";
import { lasting, type Panel } from "../panel";

class ChangesPanel {
  readonly host = element("div", { class: "changes" });
  private readonly tools = element("div", { class: "tools" });
  private readonly sums = element("p", { class: "note" });
  private readonly list = element("div");
  private readonly busy = new BusyMark();
  private readonly latest = new Latest();
  private rows: TableElement<ChangeRow> | null = null;
  private key = "";

  constructor() {
    this.host.append(this.busy.host, this.tools, this.sums, this.list);
  }

  async update(): Promise<void> {
    const ready = readyTraces(store.state);
    const sides = comparedTraces();
    if (!sides) return;
    const key = `${ready.join()} ${sides.join()}`;
    if (key === this.key) return;
    this.key = key;
    this.writeTools(ready, sides);
    const [before, after] = sides;
    try {
      const answer = await this.busy.during(this.latest.ask((signal) => ask("changes", { before, after }, signal)));
      if (answer) this.fill(answer);
    } catch (error) {
      this.key = "";
      this.rows = null;
      this.list.replaceChildren(failure(error));
    }
  }

  private writeTools(ready: number[], sides: Sides): void {
    const choice = (side: 0 | 1, label: string): HTMLElement => {
      const made = element("select", { "aria-label": label });
      for (const number of ready) {
        const option = element("option", { value: String(number) }, traceLabel(store.state, number));
        option.selected = number === sides[side];
        made.append(option);
      }
      made.addEventListener("change", () =>
        this.choose(side === 0 ? [+made.value, sides[1]] : [sides[0], +made.value]),
      );
      return element("label", {}, `${label} `, made);
    };
    const swap = element("button", { type: "button", title: "Compare the other way around" }, "Swap");
    swap.addEventListener("click", () => this.choose([sides[1], sides[0]]));
    const stacks = element("button", { type: "button", title: "Stacks of both traces in one graph" }, "Flame graph");
    stacks.addEventListener("click", () => {
      keep({ compares: true, path: [] });
      callPanel("flame");
    });
    this.tools.replaceChildren(choice(0, "Before"), choice(1, "After"), swap, stacks);
  }

  private choose([before, after]: Sides): void {
    keepLink("changes", { before, after });
    void this.update();
  }

  private fill({ rows, all, own_ns: [before, after] }: Changes): void {
    // Whoever scripts the page can wait until it is complete.
    this.host.dataset["compared"] = String(all);
    const counted = ["worse", "better", "new", "gone", "same"].map((verdict) => {
      const number = rows.filter((row) => row[ChangeRow.verdict] === verdict).length;
      return number > 0 ? `${count(number)} ${WORDS[verdict] ?? verdict}` : "";
    });
    const cut = all > rows.length ? `the first ${count(rows.length)} of ${count(all)} are listed` : "";
    const time = before + after > 0 ? `self time ${duration(before)} → ${duration(after)}` : "";
    this.sums.textContent = [time, ...counted, cut].filter((part) => part !== "").join(" · ");
    if (rows.length === 0) {
      this.rows = null;
      this.list.replaceChildren(note("The traces have nothing to compare."));
    } else if (this.rows) {
      this.rows.setRows(rows);
    } else {
      this.rows = changesTable(rows);
      this.list.replaceChildren(this.rows);
    }
  }
}

const WORDS: Record<string, string> = { worse: "slower", better: "faster" };
const ORDER = ["worse", "better", "new", "gone", "same"];

function changesTable(rows: ChangeRow[]): TableElement<ChangeRow> {
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
        hint: "Share of the self time, in the trace where it is larger",
      },
    ],
    rows,
    (row) => void selectName(row[ChangeRow.name]),
    { name: "changes", open: (row) => selectName(row[ChangeRow.name]) && callPanel("histogram") },
  );
}

const COLORS: Record<string, string> = { worse: "var(--bad)", better: "var(--good)", new: "var(--warn)" };

function named(row: ChangeRow): string {
  const line = row[ChangeRow.line];
  return line === null ? row[ChangeRow.name] : `${row[ChangeRow.name]}:${line}`;
}

export const changes: Panel = {
  id: "changes",
  title: "Changes",
  isUseful: (state) => readyTraces(state).length > 1,
  create: () => lasting(() => new ChangesPanel()),
};
