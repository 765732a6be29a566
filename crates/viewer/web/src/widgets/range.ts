// The range of the traces that figures cover: the selection, the window, or everything.

import { duration } from "../format";
import type { Watch } from "../panels/panel";
import { keepLink, linkOf, selectInside, store } from "../store";
import { isWhole, rangeOf, scopeOf, selectionKey, type Scope } from "../store/scope";
import type { RangeQuery } from "../wire";
import { switcher } from "./dom";

export { isWhole };

/** The range for queries. */
export function range(): RangeQuery {
  return rangeOf(store.state);
}

/** The key of a query: the range and the open traces. */
export function rangeKey(asked: RangeQuery): string {
  const traces = store.state.server.traces.map((trace) => [trace.state, trace.offset_ns]);
  return JSON.stringify([asked, traces]);
}

/** The switch between the ranges. */
export function rangeSwitch(changed: () => void): HTMLElement {
  const { selection } = store.state;
  // A selected span becomes a range when the user requests its contents.
  const span = selection.range === null && selection.tracks === null && selection.span?.dur_ns ? selection.span : null;
  const length = selection.range ? duration(selection.range.to - selection.range.from) : "";
  const count = selection.tracks?.length ?? 0;
  const where = count > 0 ? `${count} ${count === 1 ? "track" : "tracks"}` : "";
  const what = span ? duration(span.dur_ns) : [length, where].filter((text) => text !== "").join(", ");
  const isSelected = length !== "" || where !== "";
  const choose = (scope: Scope): void => {
    if (span && scope === "selection") selectInside(span);
    const kept = linkOf("range")?.scope === "window" ? "window" : "all";
    const isOther = isSelected && scope !== "selection";
    keepLink("range", {
      scope: scope === "selection" ? kept : scope,
      except: isOther ? selectionKey(selection) : null,
    });
    changed();
  };
  return switcher<Scope>(
    "Range of the figures",
    [
      {
        id: "selection",
        title: what === "" ? "Selection" : `Selection: ${what}`,
        hint: span
          ? "Contents of the selected span"
          : "The selection in the timeline: drag on its ruler, or with shift",
        isDisabled: !isSelected && !span,
      },
      { id: "window", title: "Window", hint: "Spans that start in the visible window" },
      { id: "all", title: "Everything", hint: "All traces" },
    ],
    scopeOf(store.state),
    choose,
  );
}

/** Calls `refresh` when the view has stopped moving, if the figures cover the window. */
export function followView(watch: Watch, refresh: () => void): void {
  let waiting = 0;
  watch(
    ({ view }) => view,
    () => {
      clearTimeout(waiting);
      waiting = window.setTimeout(() => scopeOf(store.state) === "window" && refresh(), 200);
    },
  );
}
