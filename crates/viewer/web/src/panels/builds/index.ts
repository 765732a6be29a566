// Names that got slower or faster from one build of a store to another.

import { ask } from "../../api";
import { callPanel, keepLink, linkOf, store } from "../../store";
import { BusyMark, Latest } from "../../widgets/busy";
import { ChangesList } from "../../widgets/changes";
import { element, failure, note } from "../../widgets/dom";
import { ChangeRow, TagValue, type StoreAbout } from "../../wire";
import { lasting, type Panel } from "../panel";

class BuildsPanel {
  readonly host = element("div");
  private readonly tools = element("div", { class: "tools" });
  private readonly list = new ChangesList({
    choose: () => undefined,
    open: (row) => callPanel("trend", { name: row[ChangeRow.name] }),
  });
  private readonly busy = new BusyMark();
  private readonly latest = new Latest();
  private key = "";

  constructor() {
    this.host.append(this.busy.host, this.tools, this.list.host);
  }

  async update(): Promise<void> {
    const all = buildsOf(store.state.stored?.about ?? null);
    const { baseline, candidate } = chosen(all);
    if (baseline === undefined || candidate === undefined) {
      this.list.host.replaceChildren(note("The store has only one build."));
      return;
    }
    const key = JSON.stringify([all, baseline, candidate]);
    if (key === this.key) return;
    this.key = key;
    this.writeTools(all, baseline, candidate);
    try {
      const query = { baseline, candidate };
      const answer = await this.busy.during(this.latest.ask((signal) => ask("store/regressions", query, signal)));
      if (answer) this.list.fill(answer);
    } catch (error) {
      this.key = "";
      this.list.host.replaceChildren(failure(error));
    }
  }

  private writeTools(all: readonly string[], baseline: string, candidate: string): void {
    const choice = (label: string, value: string, choose: (build: string) => void): HTMLElement => {
      const made = element("select", { "aria-label": label });
      for (const build of all) {
        const option = element("option", { value: build }, build);
        option.selected = build === value;
        made.append(option);
      }
      made.addEventListener("change", () => choose(made.value));
      return element("label", {}, `${label} `, made);
    };
    const set = (baseline: string, candidate: string): void => {
      keepLink("builds", { baseline, candidate });
      void this.update();
    };
    const swap = element("button", { type: "button", title: "Compare the other way around" }, "Swap");
    swap.addEventListener("click", () => set(candidate, baseline));
    this.tools.replaceChildren(
      choice("Before", baseline, (build) => set(build, candidate)),
      choice("After", candidate, (build) => set(baseline, build)),
      swap,
    );
  }
}

/** The builds of a store, the newest first. */
function buildsOf(about: StoreAbout | null): string[] {
  const builds = about?.tags.find(({ column }) => column === "build");
  return (builds?.values ?? []).map((value) => value[TagValue.value]);
}

/** The builds of the link, or the newest one and the one before it. */
function chosen(all: readonly string[]): { baseline: string | undefined; candidate: string | undefined } {
  const { baseline, candidate } = linkOf("builds") ?? {};
  const known = (build: unknown): string | undefined => all.find((one) => one === build);
  return { baseline: known(baseline) ?? all[1], candidate: known(candidate) ?? all[0] };
}

export const builds: Panel = {
  id: "builds",
  title: "Builds",
  isUseful: ({ stored }) => (stored?.about?.has_trends ?? false) && buildsOf(stored?.about ?? null).length > 1,
  create: () => lasting(() => new BuildsPanel()),
};
