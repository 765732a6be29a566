// The result of an SQL query: a table, a chart, or a track of the timeline.

import { duration } from "../../format";
import { chartOf, hintsOf, trackOf, type Answer, type Row } from "../../queried/answer";
import { addTrack } from "../../queried/tracks";
import { selectName } from "../../store";
import { element, note, switcher } from "../../widgets/dom";
import { showRow } from "../../widgets/jump";
import { table, type Column } from "../../widgets/table";
import { chart } from "./chart";
import { grouped } from "./text";

/** How the result is shown, which is saved in a link. */
export interface Looks {
  chart: boolean;
  /** The column of a chart; by default, the first numeric one. */
  value: string | null;
}

export class Shown {
  readonly tools = element("span", { class: "tools" });
  readonly host = element("div", { class: "scroll" });
  private answer: Answer | null = null;
  private sql = "";

  constructor(
    public looks: Looks,
    private readonly changed: () => void,
  ) {}

  /** Shows a message instead of a result. */
  say(content: HTMLElement): void {
    this.answer = null;
    this.tools.replaceChildren();
    this.host.replaceChildren(content);
  }

  show(sql: string, answer: Answer): void {
    if (answer.rows.length === 0) return this.say(note("No rows."));
    [this.sql, this.answer] = [sql, answer];
    this.draw();
  }

  private draw(): void {
    const { answer, looks } = this;
    if (!answer) return;
    const made = chartOf(answer);
    const isChart = looks.chart && made !== null;
    const choices = [
      { id: "table", title: "Table" },
      { id: "chart", title: "Chart", isDisabled: made === null, hint: CHART_HINT },
    ];
    const pick = (id: string): void => this.change({ ...looks, chart: id === "chart" });
    this.tools.replaceChildren(switcher("Show as", choices, isChart ? "chart" : "table", pick));
    if (made && isChart) {
      const names = made.values.map((at) => answer.columns[at]?.[0] ?? "");
      const chosen = Math.max(0, names.indexOf(looks.value ?? ""));
      if (names.length > 1) this.tools.append(this.values(names, chosen));
      this.host.replaceChildren(chart(answer, made, made.values[chosen] ?? 0, (row) => jump(answer, row)));
    } else this.host.replaceChildren(grid(answer));
    this.tools.append(this.trackButton(answer));
  }

  private change(looks: Looks): void {
    const focused = this.tools.querySelector(":focus")?.getAttribute("data-choice");
    this.looks = looks;
    this.draw();
    if (focused) this.tools.querySelector<HTMLElement>(`[data-choice="${focused}"]`)?.focus();
    this.changed();
  }

  private values(names: string[], chosen: number): HTMLElement {
    const select = element("select", { "aria-label": "Value", "data-choice": "value" });
    select.append(...names.map((name) => element("option", { value: name }, name)));
    select.selectedIndex = chosen;
    select.addEventListener("change", () => this.change({ ...this.looks, value: select.value }));
    return select;
  }

  private trackButton(answer: Answer): HTMLElement {
    const track = trackOf(this.sql, answer);
    const button = element("button", { type: "button", title: TRACK_HINT }, "Add track");
    button.disabled = track === null;
    button.addEventListener("click", () => track && addTrack(track));
    return button;
  }
}

const CHART_HINT = "Bars if the result has text and numbers, a line if it has a time and numbers";
const TRACK_HINT =
  "Show the rows on the timeline: spans if they have ts_ns and dur_ns, values if they have ts_ns and a number";

function grid(answer: Answer): HTMLElement {
  const made = answer.columns.map(([title, isNumber], at): Column<Row> => {
    const text = (row: Row): string => row[at] ?? "NULL";
    if (!isNumber) return { title, text };
    const value = (row: Row): number => (row[at] === null ? NaN : Number(row[at]));
    const hover = title.endsWith("_ns") ? { about: (row: Row) => duration(value(row)) } : {};
    const isId = /(^|_)id$/.test(title);
    return { title, text: isId ? text : (row) => grouped(text(row)), value, ...hover };
  });
  let chosen: Row | null = null;
  const choose = (row: Row): void => {
    chosen = row;
    jump(answer, row);
  };
  const leads = answer.columns.some(([title]) => /^(ts_ns|start_ns|time_ns|name)$/i.test(title));
  const list = table(made, answer.rows, leads ? choose : undefined, {
    name: "query",
    isChosen: (row) => row === chosen,
  });
  list.classList.add("exact");
  return list;
}

/** Shows the span of a row, or its time, or its name. */
function jump(answer: Answer, row: Row): void {
  const hints = hintsOf(answer, row);
  if (hints) return void showRow(hints);
  const name = answer.columns.findIndex(([title]) => title.toLowerCase() === "name");
  selectName(row[name] ?? "");
}
