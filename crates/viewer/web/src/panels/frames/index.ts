// Frames: durations compared with a budget, and the slowest ones with their main cost.

import { ask } from "../../api";
import { count, duration, share } from "../../format";
import { keepLink, linkOf, store, type PageState } from "../../store";
import { trackLabel } from "../../timeline/names";
import { Question } from "../../widgets/busy";
import { element, note } from "../../widgets/dom";
import { showRow, showSpan, when } from "../../widgets/jump";
import { table } from "../../widgets/table";
import { ChildRow, FrameBar, FrameSeries, WorstFrame, type Frames } from "../../wire";
import { fresh, type Panel, type Watch } from "../panel";
import { parsedBudget, usualBudget, writtenBudget } from "./budget";
import { FrameStrip } from "./strip";

class FramesPanel {
  private readonly tools = element("div", { class: "tools" });
  private readonly figures = element("div", { class: "figures" });
  private readonly strip = new FrameStrip((bar) => this.pick(bar));
  private readonly list = element("div");
  private readonly question = new Question();
  private answer: Frames | null = null;

  constructor(private readonly host: HTMLElement) {
    host.append(this.question.host, this.tools, this.figures, this.strip.host, this.list);
  }

  watch(watch: Watch): void {
    watch(
      ({ isDark }) => isDark,
      () => this.strip.later(),
    );
  }

  async update(): Promise<void> {
    const series = kept("series") ?? 0;
    const key = `${store.state.server.revision} ${series}`;
    if (!this.question.isNew(key)) return;
    await this.question.ask(
      (signal) => ask("frames", { series }, signal),
      (answer) => this.fill(answer),
      (message) => this.list.replaceChildren(message),
    );
  }

  private fill(answer: Frames): void {
    this.answer = answer;
    this.host.dataset["frames"] = String(answer.frames.length);
    const isEmpty = answer.frames.length === 0;
    for (const part of [this.tools, this.figures, this.strip.host]) part.hidden = isEmpty;
    if (isEmpty) return this.list.replaceChildren(note("No span in these traces repeats often enough to be a frame."));
    this.writeTools(answer);
    this.measure();
    this.list.replaceChildren(worst(answer));
  }

  private get budget(): number {
    return kept("budget") ?? usualBudget(this.answer?.p50_ns ?? 0);
  }

  private writeTools({ series, chosen }: Frames): void {
    const choice = element("select", { "aria-label": "Frames are" });
    series.forEach((one, number) => {
      const name = `${store.state.names.text(one[FrameSeries.name])} · ${trackLabel(store.state, one[FrameSeries.track])}`;
      const option = element("option", { value: String(number) }, `${name} · ${count(one[FrameSeries.count])}`);
      option.selected = number === chosen;
      choice.append(option);
    });
    choice.addEventListener("change", () => {
      keepLink("frames", { series: Number(choice.value) });
      void this.update();
    });
    const field = element("input", {
      type: "text",
      size: "7",
      "aria-label": "Budget in milliseconds",
      value: writtenBudget(this.budget),
    });
    field.addEventListener("change", () => {
      const budget = parsedBudget(field.value);
      if (budget !== null) keepLink("frames", { series: chosen, budget });
      field.value = writtenBudget(this.budget);
      this.measure();
    });
    this.tools.replaceChildren(choice, element("label", {}, "budget ", field, " ms"));
  }

  /** Everything that depends on the budget. */
  private measure(): void {
    const { answer } = this;
    if (!answer) return;
    const over = answer.frames.filter((bar) => bar[FrameBar.dur_ns] > this.budget).length;
    const all = answer.series[answer.chosen]?.[FrameSeries.count] ?? 0;
    const rows: [string, string][] = [
      ["frames", count(all)],
      ["over budget", `${count(over)} · ${share(over, answer.frames.length)}`],
      ["mean", duration(answer.mean_ns)],
      ["median", duration(answer.p50_ns)],
      ["p95", duration(answer.p95_ns)],
      ["p99", duration(answer.p99_ns)],
      ["max", duration(answer.max_ns)],
    ];
    if (answer.group > 1) rows[1] = ["over budget", `in ${share(over, answer.frames.length)} of the bars`];
    this.figures.replaceChildren(
      ...rows.map(([name, text]) =>
        element("span", {}, element("small", { class: "note" }, `${name} `), element("b", {}, text)),
      ),
    );
    this.strip.show(answer.frames, this.budget);
  }

  /** Shows the frame of a bar. */
  private pick(bar: FrameBar): void {
    const series = this.answer?.series[this.answer.chosen];
    const name = series && store.state.names.text(series[FrameSeries.name]);
    void showRow({ ts: bar[FrameBar.ts_ns], dur: bar[FrameBar.dur_ns], ...(name === undefined ? {} : { name }) });
  }
}

/** The longest frames, and the name with the most time in each. */
function worst(answer: Frames): HTMLElement {
  const length = (row: WorstFrame): number => row[WorstFrame.place].dur_ns ?? 0;
  const most = (row: WorstFrame): string => {
    const child = row[WorstFrame.most];
    if (child === null) return "";
    const name = store.state.names.text(child[ChildRow.name]);
    return `${name} ${duration(child[ChildRow.total_ns])} · ${share(child[ChildRow.total_ns], length(row))}`;
  };
  return table<WorstFrame>(
    [
      { title: "Frame", text: (row) => `${count(row[WorstFrame.number] + 1)} at ${when(row[WorstFrame.place].ts_ns)}` },
      {
        title: "Duration",
        text: (row) => duration(length(row)),
        value: length,
        bar: (row) => length(row) / Math.max(1, answer.max_ns),
        csv: "dur_ns",
      },
      {
        title: "× median",
        text: (row) => (length(row) / Math.max(1, answer.p50_ns)).toFixed(2),
        value: length,
        hint: "Duration relative to the median",
      },
      { title: "Most time in", text: most, hint: "The name directly inside the frame that took the most time" },
    ],
    answer.worst,
    (row) => showSpan(row[WorstFrame.place]),
    { name: "frames" },
  );
}

/** The value of a link, if it is a number. */
function kept(key: "series" | "budget"): number | null {
  const value = linkOf("frames")?.[key];
  return typeof value === "number" && value >= 0 ? value : null;
}

function hasFrames({ server }: PageState): boolean {
  return server.tracks.some((track) => track.spans >= 10);
}

export const frames: Panel = {
  id: "frames",
  title: "Frames",
  isUseful: hasFrames,
  create: () => fresh((host) => new FramesPanel(host)),
};
