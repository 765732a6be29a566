// The tabs below the timeline.

import { openPanel, rememberPanel } from "../link";
import { store } from "../store";
import { log } from "./log";
import { element, failure, type Panel } from "./panel";
import { selection } from "./selection";

/** All panels, in the order of their tabs. */
export const PANELS: Panel[] = [selection, log];

export class Tabs {
  private readonly bar = document.getElementById("tabs") as HTMLElement;
  private readonly host = document.getElementById("panel") as HTMLElement;
  private shown = "";

  constructor() {
    store.on("state", () => this.refresh());
    store.on("selection", () => this.show(openPanel()));
    this.refresh();
  }

  private refresh(): void {
    const useful = PANELS.filter((panel) => panel.isUseful());
    const ids = useful.map((panel) => panel.id).join();
    if (ids !== this.shown) {
      this.shown = ids;
      this.bar.replaceChildren(...useful.map((panel) => this.tab(panel)));
    }
    this.show(useful.some((panel) => panel.id === openPanel()) ? openPanel() : "selection");
  }

  private tab(panel: Panel): HTMLElement {
    const tab = element("button", { role: "tab", "data-panel": panel.id }, panel.title);
    tab.addEventListener("click", () => this.open(panel.id));
    return tab;
  }

  /** Opens a panel by its id. */
  open(id: string): void {
    rememberPanel(id);
    this.show(id);
  }

  /** The next tab, or the one before. */
  step(by: number): void {
    const useful = PANELS.filter((panel) => panel.isUseful());
    const at = useful.findIndex((panel) => panel.id === openPanel());
    const next = useful[(at + by + useful.length) % useful.length];
    if (next) this.open(next.id);
  }

  private show(id: string): void {
    for (const tab of this.bar.children) tab.setAttribute("aria-selected", String((tab as HTMLElement).dataset["panel"] === id));
    const panel = PANELS.find((one) => one.id === id);
    if (!panel) return;
    const host = element("div", { style: "height: 100%" });
    this.host.replaceChildren(host);
    Promise.resolve(panel.show(host)).catch((error: unknown) => host.replaceChildren(failure(error)));
  }
}
