// Keeps the address up to date, and opens what it asks for.

import { ask, EVENT, send } from "./api";
import { isJump, linkTo, panelsOf, parsed, placeIn, restored, written, wrongOffsets, type Linked } from "./link";
import { look, NOTHING, select, store } from "./store";

/** Written not more often than needed, in milliseconds. */
const PAUSE = 150;

export class Linking {
  private readonly link = parsed(location.hash);
  private waiting = 0;
  /** What the address says, or is about to. */
  private last: Linked | null = null;
  /** The selection of an address is still asked for. */
  private isRestoring = false;

  constructor() {
    // Panels may be opened before the view can be.
    store.set({ links: panelsOf(this.link) });
  }

  /** Moves traces to where the link has them; whether any had to be moved. */
  restoreOffsets(): Promise<boolean> {
    return moveTraces(this.link);
  }

  /** Opens what the address asks for, and follows the page from then on; whether it asks for anything. */
  restore(): boolean {
    const { link } = this;
    if (link) {
      store.set(restored(link, store.state));
      look(link.from, link.to);
      void reselect(link);
    }
    this.follow();
    return link !== null;
  }

  private follow(): void {
    store.subscribe(
      ({ server, view, selection, tracks, scroll, panel, links, panelHeight }) => [
        server,
        view,
        selection,
        tracks,
        scroll,
        panel,
        links,
        panelHeight,
      ],
      () => this.write(),
    );
    addEventListener("popstate", () => void this.goBack());
    this.write();
  }

  private write(): void {
    clearTimeout(this.waiting);
    this.waiting = window.setTimeout(() => this.writeNow(), PAUSE);
  }

  private writeNow(): void {
    if (this.isRestoring) return;
    const next = linkTo(store.state);
    const isNew = this.last !== null && isJump(this.last, next);
    this.last = next;
    if (isNew) history.pushState(steps() + 1, "", written(next));
    else history.replaceState(steps(), "", written(next));
  }

  /** Goes back to what the page showed before the last jump, if it showed anything. */
  undo(): void {
    if (steps() > 0) history.back();
  }

  /** Shows what the address says after Back or Forward. */
  private async goBack(): Promise<void> {
    const link = parsed(location.hash);
    if (!link) return;
    clearTimeout(this.waiting);
    [this.last, this.isRestoring] = [link, true];
    if (await moveTraces(link).catch(() => false)) {
      store.set({ asked: store.state.asked + 1 });
      await until(() => wrongOffsets(link, store.state).length === 0);
    }
    // A later step of the user wins.
    if (this.last !== link) return;
    // Only the name, the range and the tracks come with the link; the span is asked for again.
    store.set({ selection: NOTHING });
    store.set({ ...restored(link, store.state), links: panelsOf(link) });
    look(link.from, link.to);
    void reselect(link).finally(() => {
      this.isRestoring = false;
      this.write();
    });
  }
}

/** Moves traces to where a link has them; whether any had to be moved. */
async function moveTraces(link: Linked | null): Promise<boolean> {
  const wrong = wrongOffsets(link, store.state);
  await Promise.all(wrong.map(({ trace, ns }) => send("offset", { trace, offset_ns: Math.round(ns) })));
  return wrong.length > 0;
}

/** Jumps that can be taken back. */
function steps(): number {
  return typeof history.state === "number" ? history.state : 0;
}

/** Waits for what the server says. */
function until(isSo: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    if (isSo()) return resolve();
    const end = store.subscribe(
      ({ server }) => server,
      () => {
        if (!isSo()) return;
        end();
        resolve();
      },
    );
  });
}

/** Selects the span or the event of a link. */
async function reselect(link: Linked): Promise<void> {
  const found = placeIn(link);
  if (!found) return;
  const { ts, ...place } = found;
  try {
    if (place.kind === EVENT) {
      const event = await ask("event", { track: place.track, id: place.index, ts });
      select({ event, name: event.name_id });
      return;
    }
    const span = await ask("span", place);
    select({ place, span, name: span.name_id });
  } catch {
    // The link is of another trace.
  }
}
