// Track tools: filter, order, and compact rows.

import { arrange, store } from "../store";
import type { TrackSort } from "../store/state";
import { byId, element } from "../widgets/dom";

const SORTS: [TrackSort, string][] = [
  ["file", "File"],
  ["first", "Start"],
  ["busy", "Busy"],
  ["name", "Name"],
];

/** Minimum number of tracks for which the tools are shown. */
const FEW = 3;

export class TrackTools {
  private readonly host = byId("tracktools");
  private readonly field = element("input", {
    type: "search",
    placeholder: "Filter tracks",
    "aria-label": "Only tracks with this name",
    title: "Filter tracks by name (T)",
    spellcheck: "false",
  });
  private readonly sort = element(
    "select",
    {
      "aria-label": "Order of tracks",
      title: "Order of tracks: as in the file, earliest first, busiest first, or by name",
    },
    ...SORTS.map(([value, title]) => element("option", { value }, title)),
  );
  private readonly compact = element(
    "button",
    { "aria-pressed": "false", "aria-label": "≡ Compact rows", title: "One compact row per track (C)" },
    "≡",
  );

  constructor() {
    this.host.append(this.field, this.sort, this.compact);
    this.field.addEventListener("input", () => arrange({ filter: this.field.value }));
    this.field.addEventListener("keydown", (event) => event.key === "Escape" && this.clear());
    this.sort.addEventListener("change", () => arrange({ sort: this.sort.value as TrackSort }));
    this.compact.addEventListener("click", () => this.toggleCompact());
    store.subscribe(
      ({ tracks, server }) => [tracks, server.tracks.length],
      () => this.show(),
    );
    this.show();
  }

  focus(): void {
    this.field.focus();
    this.field.select();
  }

  toggleCompact(): void {
    arrange({ isCompact: !store.state.tracks.isCompact });
  }

  private clear(): void {
    arrange({ filter: "" });
    byId("picture").focus();
  }

  private show(): void {
    const { filter, sort, isCompact } = store.state.tracks;
    this.host.hidden = store.state.server.tracks.length < FEW;
    if (this.field.value !== filter) this.field.value = filter;
    this.sort.value = sort;
    this.compact.setAttribute("aria-pressed", String(isCompact));
  }
}
