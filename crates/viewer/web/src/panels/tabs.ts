// The tabs below the timeline.

import { openPanel, store, type PanelId } from "../store";
import { byId, element, failure } from "../widgets/dom";
import type { Panel, PanelView } from "./panel";
import { usefulPanels } from "./registry";

export class Tabs {
  private readonly bar = byId("tabs");
  private readonly host = byId("panel");
  private readonly views = new Map<PanelId, PanelView>();
  /** The ids of the visible tabs. */
  private shown = "";
  /** The mounted panel. */
  private mounted: PanelId | null = null;

  constructor() {
    store.subscribe(
      ({ server, notes, stored }) => [server.revision, notes.length, stored],
      () => this.refresh(),
    );
    store.subscribe(
      ({ selection, found, panel }) => [selection, found, panel],
      () => this.show(),
    );
    // A new selection opens the panel about it.
    store.subscribe(
      ({ selection: { place, event, range } }) => [place, event, range],
      ([place, event, range]) => {
        if ((place ?? event ?? range) && store.state.panel === "overview") openPanel("selection");
      },
    );
    store.subscribe(
      ({ called }) => called,
      (called) => called && this.show(),
    );
    this.refresh();
  }

  private useful(): Panel[] {
    return usefulPanels(store.state);
  }

  private refresh(): void {
    const useful = this.useful();
    const ids = useful.map((panel) => `${panel.id} ${badgeOf(panel)}`).join();
    if (ids !== this.shown) {
      this.shown = ids;
      this.bar.replaceChildren(...useful.map((panel) => tab(panel)));
    }
    this.show();
  }

  /** Opens the next or the previous tab. */
  step(by: number): void {
    const useful = this.useful();
    const at = useful.findIndex((panel) => panel.id === store.state.panel);
    const next = useful[(at + by + useful.length) % useful.length];
    if (next) openPanel(next.id);
  }

  /** Focuses the filter of the open panel. */
  focusFilter(): void {
    this.host.querySelector<HTMLElement>('input[type="search"]')?.focus();
  }

  /** Mounts the open panel, or updates it. */
  private show(): void {
    const useful = this.useful();
    const panel = useful.find((one) => one.id === store.state.panel) ?? useful[0];
    if (!panel) return;
    for (const tab of this.bar.children) {
      tab.setAttribute("aria-selected", String((tab as HTMLElement).dataset["panel"] === panel.id));
    }
    if (this.mounted === panel.id) this.settle(panel, this.view(panel).update());
    else this.mount(panel);
  }

  private mount(panel: Panel): void {
    this.unmount();
    this.mounted = panel.id;
    const host = element("div", { style: "height: 100%" });
    this.host.replaceChildren(host);
    this.settle(panel, this.view(panel).mount(host));
  }

  private unmount(): void {
    if (this.mounted !== null) this.views.get(this.mounted)?.unmount();
    this.mounted = null;
  }

  /** A panel that fails shows the error; it is mounted again at the next change. */
  private settle(panel: Panel, work: void | Promise<void>): void {
    Promise.resolve(work).catch((error: unknown) => {
      if (this.mounted !== panel.id) return;
      this.unmount();
      this.host.replaceChildren(failure(error));
    });
  }

  private view(panel: Panel): PanelView {
    const known = this.views.get(panel.id) ?? panel.create();
    this.views.set(panel.id, known);
    return known;
  }
}

function badgeOf(panel: Panel): string {
  return panel.badge?.(store.state) ?? "";
}

function tab(panel: Panel): HTMLElement {
  const made = element("button", { role: "tab", "data-panel": panel.id }, panel.title);
  const badge = badgeOf(panel);
  if (badge !== "") made.append(" ", element("span", { class: "badge is-high" }, badge));
  made.addEventListener("click", () => openPanel(panel.id));
  return made;
}
