// How one trace differs from another: slower, faster, new, gone.

import { ask } from "../../api";
import { callPanel, keepLink, selectName, store } from "../../store";
import { comparedTraces, type Sides } from "../../store/compared";
import { readyTraces } from "../../store/state";
import { keep } from "../../stacks/kept";
import { traceLabel } from "../../timeline/names";
import { Question } from "../../widgets/busy";
import { ChangesList } from "../../widgets/changes";
import { element, selector } from "../../widgets/dom";
import { ChangeRow } from "../../wire";
import { lasting, type Panel } from "../panel";

class ChangesPanel {
  readonly host = element("div");
  private readonly tools = element("div", { class: "tools" });
  private readonly list = new ChangesList({
    choose: (row) => void selectName(row[ChangeRow.name]),
    open: (row) => selectName(row[ChangeRow.name]) && callPanel("histogram"),
  });
  private readonly question = new Question();

  constructor() {
    this.host.append(this.question.host, this.tools, this.list.host);
  }

  async update(): Promise<void> {
    const ready = readyTraces(store.state);
    const sides = comparedTraces();
    if (!sides) return;
    const key = `${ready.join()} ${sides.join()}`;
    if (!this.question.isNew(key)) return;
    this.writeTools(ready, sides);
    const [before, after] = sides;
    await this.question.ask(
      (signal) => ask("changes", { before, after }, signal),
      (answer) => this.list.fill(answer),
      (message) => this.list.host.replaceChildren(message),
    );
  }

  private writeTools(ready: number[], sides: Sides): void {
    const options = ready.map((number) => [String(number), traceLabel(store.state, number)] as const);
    const [before, after] = sides;
    const swap = element("button", { type: "button", title: "Compare the other way around" }, "Swap");
    swap.addEventListener("click", () => this.choose([after, before]));
    const stacks = element("button", { type: "button", title: "Stacks of both traces in one graph" }, "Flame graph");
    stacks.addEventListener("click", () => {
      keep({ compares: true, path: [] });
      callPanel("flame");
    });
    this.tools.replaceChildren(
      selector("Before", options, String(before), (number) => this.choose([+number, after])),
      selector("After", options, String(after), (number) => this.choose([before, +number])),
      swap,
      stacks,
    );
  }

  private choose([before, after]: Sides): void {
    keepLink("changes", { before, after });
    void this.update();
  }
}

export const changes: Panel = {
  id: "changes",
  title: "Changes",
  isUseful: (state) => readyTraces(state).length > 1,
  create: () => lasting(() => new ChangesPanel()),
};
