// The view in the address, so that a link reopens it.

import { store } from "./store";

interface Linked {
  from: number;
  to: number;
  name: string | null;
  panel: string;
  range: [number, number] | null;
  folded: number[];
  hidden: number[];
  pinned: number[];
  order: number[];
}

let panel = "selection";

/** The panel that is open. */
export function openPanel(): string {
  return panel;
}

export function rememberPanel(id: string): void {
  panel = id;
  remember();
}

let waiting = 0;

/** Writes the view into the address, not more often than needed. */
export function remember(): void {
  clearTimeout(waiting);
  waiting = window.setTimeout(() => {
    const { name, range } = store.selection;
    const linked: Linked = {
      from: Math.round(store.view.from),
      to: Math.round(store.view.to),
      name: name === null ? null : store.name(name),
      panel,
      range: range ? [Math.round(range.from), Math.round(range.to)] : null,
      folded: [...store.folded],
      hidden: [...store.hidden],
      pinned: [...store.pinned],
      order: store.order,
    };
    history.replaceState(null, "", `#${encodeURIComponent(JSON.stringify(linked))}`);
  }, 150);
}

/** The view that the address asks for. */
export function linked(): Linked | null {
  try {
    const value: unknown = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    return isLinked(value) ? value : null;
  } catch {
    return null;
  }
}

function isLinked(value: unknown): value is Linked {
  const link = value as Linked | null;
  return typeof link?.from === "number" && typeof link.to === "number" && link.to > link.from;
}

/** Opens what the address asks for; the names have to be known. */
export function restore(): boolean {
  const link = linked();
  if (!link) return false;
  store.folded = new Set(link.folded);
  store.hidden = new Set(link.hidden);
  store.pinned = new Set(link.pinned);
  store.order = link.order ?? [];
  panel = link.panel || panel;
  const name = link.name === null ? -1 : store.names.indexOf(link.name);
  const range = link.range ? { from: link.range[0], to: link.range[1] } : null;
  store.select({ name: name < 0 ? null : name, range });
  store.tell("tracks");
  store.look(link.from, link.to);
  return true;
}
