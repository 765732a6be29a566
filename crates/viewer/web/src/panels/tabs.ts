// The tabs below the timeline.

import { openPanel, rememberPanel } from "../link";
import { store } from "../store";
import { definitions } from "./definitions";
import { findings } from "./findings";
import { flame } from "./flame";
import { histogram } from "./histogram";
import { log } from "./log";
import { memory } from "./memory";
import { element, failure, type Panel } from "./panel";
import { selection } from "./selection";
import { source } from "./source";
import { sql } from "./sql";
import { stats } from "./stats";

/** All panels, in the order of their tabs. */
export const PANELS: Panel[] = [selection, stats, flame, histogram, log, source, memory, sql, findings, definitions];

export class Tabs {
  private readonly bar = document.getElementById("tabs") as HTMLElement;
  private readonly host = document.getElementById("panel") as HTMLElement;
  private shown = "";
  /** The panel that fills the host, and knows how to follow. */
  private filled: Panel | null = null;

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
    if (this.filled === panel && panel.update) {
      Promise.resolve(panel.update()).catch((error: unknown) => this.host.replaceChildren(failure(error)));
      return;
    }
    this.filled = panel;
    this.host.replaceChildren(host);
    Promise.resolve(panel.show(host)).catch((error: unknown) => host.replaceChildren(failure(error)));
  }
}
