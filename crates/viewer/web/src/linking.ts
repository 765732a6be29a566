// Keeps the URL up to date, and opens its contents.

import { ask, EVENT, send } from "./api";
import { isJump, linkTo, panelsOf, parsed, placeIn, restored, written, wrongOffsets, type Linked } from "./link";
import { look, NOTHING, select, store } from "./store";

/** Minimum interval of URL updates, in milliseconds. */
const PAUSE = 150;

export class Linking {
  private readonly link = parsed(location.hash);
  private waiting = 0;
  /** The current link, which is or will be in the URL. */
  private last: Linked | null = null;
  /** The selection of the link is still being requested. */
  private isRestoring = false;

  constructor() {
    // Panels can be opened before the view.
    store.set({ links: panelsOf(this.link) });
  }

  /** Moves traces to the offsets of the link; returns whether any had to be moved. */
  restoreOffsets(): Promise<boolean> {
    return moveTraces(this.link);
  }

  /** Opens the link in the URL, and updates the URL from then on; returns whether there was a link. */
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

  /** Goes back to the page before the last jump, if any. */
  undo(): void {
    if (steps() > 0) history.back();
  }

  /** Shows the link in the URL after Back or Forward. */
  private async goBack(): Promise<void> {
    const link = parsed(location.hash);
    if (!link) return;
    clearTimeout(this.waiting);
    [this.last, this.isRestoring] = [link, true];
    if (await moveTraces(link).catch(() => false)) {
      store.set({ asked: store.state.asked + 1 });
      await until(() => wrongOffsets(link, store.state).length === 0);
    }
    // A later navigation wins.
    if (this.last !== link) return;
    // The link contains only the name, the range and the tracks; the span is requested again.
    store.set({ selection: NOTHING });
    store.set({ ...restored(link, store.state), links: panelsOf(link) });
    look(link.from, link.to);
    const shown = linkTo(store.state);
    await reselect(link);
    if (this.last !== link) return;
    // What the link lacks, or this page does not have, is not a jump: a new entry would be a trap for Back.
    const { name, place } = linkTo(store.state);
    [this.last, this.isRestoring] = [{ ...shown, name, place }, false];
    this.write();
  }
}

/** Moves traces to the offsets of a link; returns whether any had to be moved. */
async function moveTraces(link: Linked | null): Promise<boolean> {
  const wrong = wrongOffsets(link, store.state);
  await Promise.all(wrong.map(({ trace, ns }) => send("offset", { trace, offset_ns: Math.round(ns) })));
  return wrong.length > 0;
}

/** Max number of jumps that can be undone. */
function steps(): number {
  return typeof history.state === "number" ? history.state : 0;
}

/** Waits for the next state of the server. */
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

/** Selects the span or event of a link. */
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
    // The link belongs to another trace.
  }
}
