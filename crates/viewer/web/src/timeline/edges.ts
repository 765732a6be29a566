// Hints to the next span, if the view shows few spans.

import { ask } from "../api";
import { moment } from "../format";
import { reveal, store } from "../store";
import { extent, isLoading } from "../store/state";
import { byId, element } from "../widgets/dom";
import type { Found } from "../wire";
import type { Picture } from "./picture";
import { placed } from "./scale";
import type { Timeline } from "./timeline";

/** Max number of bars for which hints are shown. */
const FEW = 1;

export class Edges {
  private readonly host = byId("edges");
  /** The view of the hints. */
  private asked = "";

  constructor(private readonly timeline: Timeline) {
    timeline.onDrawn = (picture) => this.follow(picture);
  }

  private follow(picture: Picture): void {
    const { view, server } = store.state;
    const isEmpty = !isLoading(store.state) && this.bars(picture) <= FEW;
    const key = isEmpty ? `${view.from} ${view.to} ${server.revision}` : "";
    if (key === this.asked) return;
    this.asked = key;
    this.host.replaceChildren();
    if (key !== "") void this.hint(key).catch(() => undefined);
  }

  /** The number of bars in the view, up to the limit. */
  private bars(picture: Picture): number {
    const { offset, scale } = placed(picture, this.timeline.width);
    let seen = 0;
    for (const lane of [...picture.lanes.values()].flat()) {
      for (let bar = 0; bar < lane.left.length && seen <= FEW; bar++) {
        const [left, right] = [lane.left[bar] ?? 0, lane.right[bar] ?? 0].map((x) => offset + x * scale);
        if ((right ?? 0) >= 0 && (left ?? 0) <= this.timeline.width) seen += lane.counts[bar] ?? 1;
      }
    }
    return seen;
  }

  private async hint(key: string): Promise<void> {
    const { view } = store.state;
    const all = extent(store.state);
    const next = async (ts: number, back: boolean): Promise<Found | null> => {
      if (back ? ts <= all.from : ts >= all.to) return null;
      return ask("next", { q: "", ts: Math.round(ts), back });
    };
    const [before, after] = await Promise.all([next(view.from, true), next(view.to, false)]);
    if (key !== this.asked) return;
    const hints = [before && made(before, "before"), after && made(after, "after")];
    this.host.replaceChildren(...hints.filter((hint) => hint !== null));
  }
}

function made(found: Found, side: "before" | "after"): HTMLElement {
  const at = moment(found.ts_ns, 1e6);
  const text = side === "before" ? `← previous span ${at}` : `next span ${at} →`;
  const button = element("button", { class: side }, text);
  button.addEventListener("click", () => reveal({ kind: "found", found }));
  return button;
}
