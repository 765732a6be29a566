// Live traces: the view follows their end until the user moves it.

import { look, store } from "../store";
import { extent, isLive } from "../store/state";
import { byId, element } from "../widgets/dom";
import { FIRST_WIDTH, followed } from "./follow";

export class Live {
  private isFollowing = true;
  private isPaused = false;
  private isSliding = false;
  private width = FIRST_WIDTH;
  private readonly line = element("span", { id: "live", role: "status" });
  private readonly button = element("button", { id: "follow", "aria-pressed": "true" }, "Follow");

  constructor() {
    this.button.title = "Follow the end of the trace (l)";
    this.button.hidden = true;
    this.button.addEventListener("click", () => this.toggle());
    byId("status").after(this.line, this.button);
    store.subscribe(
      ({ server }) => server.revision,
      () => this.grow(),
    );
    store.subscribe(
      ({ view }) => view,
      () => this.moved(),
    );
  }

  /** Starts or stops following the end. */
  toggle(): void {
    const { view } = store.state;
    this.isPaused = this.isFollowing;
    this.isFollowing = !this.isFollowing;
    if (this.isFollowing) this.width = view.to - view.from;
    this.grow();
  }

  private grow(): void {
    this.show();
    if (!this.isFollowing || !isLive(store.state)) return;
    const { from, to } = followed(extent(store.state), this.width);
    this.isSliding = true;
    look(from, to);
    this.isSliding = false;
  }

  /** The user moved the view, which then stays there. */
  private moved(): void {
    if (this.isSliding || !isLive(store.state)) return;
    this.isFollowing = false;
    this.show();
  }

  private show(): void {
    const watched = store.state.server.traces.flatMap(({ live }) => (live ? [live] : []));
    const dropped = watched.reduce((sum, live) => sum + live.dropped, 0);
    const [ended] = watched.flatMap(({ end }) => (end === null ? [] : [end]));
    const state =
      ended === undefined ? (this.isPaused ? "live, paused" : "live") : `${ended}; showing the data received so far`;
    const missing = dropped > 0 ? [`${dropped.toLocaleString("en")} records dropped`] : [];
    this.line.textContent = watched.length > 0 ? [state, ...missing].join(" · ") : "";
    this.button.hidden = !isLive(store.state);
    this.button.setAttribute("aria-pressed", String(this.isFollowing));
  }
}
