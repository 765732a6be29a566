// How one trace differs from another: slower, faster, new, gone.

import { ask } from "../../api";
import { callPanel, keepLink, selectName, store } from "../../store";
import { comparedTraces, type Sides } from "../../store/compared";
import { readyTraces } from "../../store/state";
import { keep } from "../../stacks/kept";
import { traceLabel } from "../../timeline/names";
import { BusyMark, Latest } from "../../widgets/busy";
import { ChangesList } from "../../widgets/changes";
import { element, failure } from "../../widgets/dom";
import { ChangeRow } from "../../wire";
import { lasting, type Panel } from "../panel";

class ChangesPanel {
  readonly host = element("div");
  private readonly tools = element("div", { class: "tools" });
  private readonly list = new ChangesList({
    choose: (row) => void selectName(row[ChangeRow.name]),
    open: (row) => selectName(row[ChangeRow.name]) && callPanel("histogram"),
  });
  private readonly busy = new BusyMark();
  private readonly latest = new Latest();
  private key = "";

  constructor() {
    this.host.append(this.busy.host, this.tools, this.list.host);
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
      if (answer) this.list.fill(answer);
    } catch (error) {
      this.key = "";
      this.list.host.replaceChildren(failure(error));
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
}

export const changes: Panel = {
  id: "changes",
  title: "Changes",
  isUseful: (state) => readyTraces(state).length > 1,
  create: () => lasting(() => new ChangesPanel()),
};
