// The page of a store, and navigation to a trace and back.

import { ask, send } from "../api";
import { count } from "../format";
import { store } from "../store";
import { baseName } from "../store/state";
import { byId, element } from "../widgets/dom";
import { addressOf, placeOf } from "./place";

export const PLACE = placeOf(typeof location === "undefined" ? "" : location.search);

/** The address of the list when a trace was opened from it, in this tab. */
const LIST = "traceloom-list";

/** Shows a store instead of a timeline, or the link back to it, if the address asks for it. */
export function followStore(): void {
  if (PLACE.trace !== null) {
    const list = addressOf(location.search, null) + (sessionStorage.getItem(LIST) ?? "");
    const back = element("a", { id: "back", href: list, title: "Back to the list of traces" }, "‹ Traces");
    byId("title").after(back);
  }
  if (!PLACE.isStore) return;
  document.body.classList.add("stored");
  store.set({ stored: { about: null } });
  void ask("store", {}).then(
    (about) => store.set({ stored: { about } }),
    // The list sends the same request, and shows the error.
    () => undefined,
  );
  store.subscribe(({ stored }) => stored, showStore);
}

function showStore(): void {
  const about = store.state.stored?.about;
  if (!about) return;
  const traces = about.all - about.quarantined;
  const told = [baseName(about.path.replace(/[/\\]+$/, "")), `${count(traces)} trace${traces === 1 ? "" : "s"}`];
  if (about.quarantined > 0) told.push(`${count(about.quarantined)} in quarantine`);
  byId("traces").textContent = told.join(" · ");
  byId("traces").title = about.path;
  document.title = `${told[0] ?? ""} – Traceloom`;
}

/** The address of a trace of the store. */
export function traceAddress(trace: string): string {
  return addressOf(location.search, trace);
}

/** Opens a trace of the store; if it cannot be opened, the error is shown here, not on another page. */
export async function openTrace(trace: string): Promise<void> {
  await send("store/open", { trace });
  sessionStorage.setItem(LIST, location.hash);
  location.assign(traceAddress(trace));
}
