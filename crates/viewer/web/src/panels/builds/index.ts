// Names that got slower or faster from one build of a store to another.

import { ask } from "../../api";
import { callPanel, keepLink, linkOf, store } from "../../store";
import { Question } from "../../widgets/busy";
import { ChangesList } from "../../widgets/changes";
import { element, note, selector } from "../../widgets/dom";
import { ChangeRow, TagValue, type StoreAbout } from "../../wire";
import { lasting, type Panel } from "../panel";

class BuildsPanel {
  readonly host = element("div");
  private readonly tools = element("div", { class: "tools" });
  private readonly list = new ChangesList({
    choose: () => undefined,
    open: (row) => callPanel("trend", { name: row[ChangeRow.name] }),
  });
  private readonly question = new Question();

  constructor() {
    this.host.append(this.question.host, this.tools, this.list.host);
  }

  async update(): Promise<void> {
    const all = buildsOf(store.state.stored?.about ?? null);
    const { baseline, candidate } = chosen(all);
    if (baseline === undefined || candidate === undefined) {
      this.list.host.replaceChildren(note("The store has only one build."));
      return;
    }
    const key = JSON.stringify([all, baseline, candidate]);
    if (!this.question.isNew(key)) return;
    this.writeTools(all, baseline, candidate);
    await this.question.ask(
      (signal) => ask("store/regressions", { baseline, candidate }, signal),
      (answer) => this.list.fill(answer),
      (message) => this.list.host.replaceChildren(message),
    );
  }

  private writeTools(all: readonly string[], baseline: string, candidate: string): void {
    const options = all.map((build) => [build, build] as const);
    const set = (baseline: string, candidate: string): void => {
      keepLink("builds", { baseline, candidate });
      void this.update();
    };
    const swap = element("button", { type: "button", title: "Compare the other way around" }, "Swap");
    swap.addEventListener("click", () => set(candidate, baseline));
    this.tools.replaceChildren(
      selector("Before", options, baseline, (build) => set(build, candidate)),
      selector("After", options, candidate, (build) => set(baseline, build)),
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
