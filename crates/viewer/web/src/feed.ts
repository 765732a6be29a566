// Polls the server for changes, and sets the initial view.

import { ask, Gone } from "./api";
import type { Linking } from "./linking";
import { look, lookAtFirst, store } from "./store";
import { carried, isLive, isLoading } from "./store/state";

/** Max number of names per answer. */
const BLOCK = 50_000;

export interface FeedEvents {
  /** The server became unreachable, or reachable again. */
  lost(reason: string): void;
  /** Everything is loaded and in view; the argument says whether a link set the view. */
  placed(isRestored: boolean): void;
}

export class Feed {
  /** What the view waits for: all loaded data, or the view of the link; nothing if the view is final. */
  private awaited: "link" | "all" | null = "link";
  private isPlacing = false;
  /** The user moved the view meanwhile, so it stays there. */
  private hasMoved = false;
  private hasOffsets = false;
  private timer = 0;

  constructor(
    private readonly linking: Linking,
    private readonly events: FeedEvents,
  ) {
    store.subscribe(
      ({ view }) => view,
      () => (this.hasMoved ||= this.awaited !== null && !this.isPlacing),
    );
    store.subscribe(
      ({ asked }) => asked,
      () => void this.poll(),
    );
  }

  /** A trace was added; all of it is shown when it is loaded. */
  added(): void {
    [this.awaited, this.hasMoved] = ["all", false];
    void this.poll();
  }

  /** Polls for changes, repeatedly. */
  async poll(): Promise<void> {
    clearTimeout(this.timer);
    let pause = 1500;
    try {
      await this.refresh();
      if (isLoading(store.state) || isLive(store.state)) pause = 200;
      this.events.lost("");
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.events.lost(error instanceof Gone ? `${reason} You can still look at what is on screen.` : reason);
    }
    this.timer = window.setTimeout(() => void this.poll(), pause);
  }

  private async refresh(): Promise<void> {
    const wasLoading = isLoading(store.state);
    const { revision } = store.state.server;
    const answer = await ask("state", revision < 0 ? {} : { since: revision });
    if (!("traces" in answer)) {
      const { read_bytes, total_bytes } = store.state.server;
      const isSame = read_bytes === answer.read_bytes && total_bytes === answer.total_bytes;
      if (!isSame) store.set({ server: { ...store.state.server, ...answer } });
      return;
    }
    while (store.state.names.count < answer.names) await addNames(store.state.names.count);
    store.set({ server: answer, selection: carried(store.state, answer) });
    if (this.awaited === "link" && !isLoading(store.state) && !this.hasOffsets) {
      this.hasOffsets = true;
      if (await this.linking.restoreOffsets()) return this.refresh();
    }
    // The color of a name may be known only after its first span.
    if (wasLoading && !isLoading(store.state)) {
      for (let from = 0; from < store.state.names.count; from += BLOCK) await addNames(from);
    }
    // A trace without times has no view to wait for, but panels to restore.
    if (this.awaited && (answer.from_ns !== null || !isLoading(store.state))) this.place();
  }

  /** While a trace is loading, the view follows it unless the user moves the view; then the view of the link is set. */
  private place(): void {
    const { view } = store.state;
    this.isPlacing = true;
    const isRestored = !isLoading(store.state) && this.awaited === "link" && this.linking.restore();
    // An unchanged view is not set again, because following a live trace would stop as if the user had moved the view.
    if (this.hasMoved && isRestored) look(view.from, view.to);
    else if (!this.hasMoved && !isRestored && !isLive(store.state)) lookAtFirst();
    this.isPlacing = false;
    if (isLoading(store.state)) return;
    this.awaited = null;
    this.events.placed(isRestored);
  }
}

async function addNames(from: number): Promise<void> {
  const rows = await ask("names", { from });
  if (rows.length === 0) throw new Error("a name is missing");
  store.set({ names: store.state.names.with(from, rows) });
}
