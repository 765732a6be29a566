// The search: shows the number of matches, and jumps to the next one.

import { ask } from "../api";
import { count, duration } from "../format";
import { highlight, reveal, select, store } from "../store";
import { selectedAt } from "../store/state";
import { paint } from "../theme";
import { trackLabel } from "../timeline/names";
import { byId, element } from "../widgets/dom";
import type { SearchRow } from "../wire";
import { nextIn, summary, tracksWith } from "./matching";

/** Max number of names and threads in the list below the field; the rest is only counted. */
const LISTED = 12;
const LISTED_TRACKS = 6;

export class Search {
  private readonly field = byId("search") as HTMLInputElement;
  private readonly hits = byId("hits");
  private readonly list = byId("names");
  private rows: SearchRow[] = [];
  /** Threads whose name, id or process contains the text. */
  private tracks: number[] = [];
  /** Index of the last shown thread. */
  private track = -1;
  private asked = 0;
  private waiting = 0;
  /** The last search text, and its pending search. */
  private sought = "";
  private finding = Promise.resolve();

  constructor() {
    this.field.addEventListener("input", () => {
      store.set({ searched: this.field.value });
      clearTimeout(this.waiting);
      this.waiting = window.setTimeout(() => this.seek(), 80);
    });
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.field.addEventListener("focus", () => this.open(this.rows.length + this.tracks.length > 0));
    // Delayed, so that a click into the list still works.
    this.field.addEventListener("blur", () =>
      setTimeout(() => this.list.contains(document.activeElement) || this.open(false), 120),
    );
  }

  focus(): void {
    this.field.focus();
    this.field.select();
  }

  private open(isOpen: boolean): void {
    this.list.hidden = !isOpen;
    this.field.setAttribute("aria-expanded", String(isOpen));
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Enter") {
      event.preventDefault();
      void this.jump(event.shiftKey);
    } else if (event.key === "Escape") {
      if (this.field.value !== "") {
        this.field.value = "";
        this.seek();
      }
      // The timeline gets the focus again.
      byId("picture").focus();
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      (this.list.firstElementChild as HTMLElement | null)?.focus();
    }
  }

  private seek(): void {
    clearTimeout(this.waiting);
    this.sought = this.field.value;
    this.finding = this.find();
  }

  private async find(): Promise<void> {
    const number = ++this.asked;
    const text = this.field.value;
    if (text === "") {
      [this.rows, this.tracks] = [[], []];
      this.hits.textContent = "";
      this.open(false);
      return highlight(null, "");
    }
    const answer = await ask("search", { q: text }).catch(() => null);
    if (number !== this.asked || !answer) return;
    this.rows = answer.rows;
    [this.tracks, this.track] = [tracksWith(store.state, text), -1];
    this.hits.textContent = summary(answer, this.tracks.length);
    highlight(new Set(answer.rows.map(([name]) => name)), text);
    this.fill();
    select({ name: null });
  }

  private fill(): void {
    const more = (all: number, listed: number, what: string): HTMLElement[] =>
      all > listed ? [element("div", { class: "note" }, `and ${count(all - listed)} more ${what}`)] : [];
    this.list.replaceChildren(
      ...this.tracks.slice(0, LISTED_TRACKS).map((track) => this.trackLine(track)),
      ...more(this.tracks.length, LISTED_TRACKS, "threads"),
      ...this.rows.slice(0, LISTED).map((row) => this.line(row)),
      ...more(this.rows.length, LISTED, "names"),
    );
    this.open(this.rows.length + this.tracks.length > 0 && document.activeElement === this.field);
  }

  private line([name, text, spans, totalNs, events]: SearchRow): HTMLElement {
    const sum = spans > 0 ? `${count(spans)} × · ${duration(totalNs)}` : `${count(events)} events`;
    const made = element(
      "button",
      { role: "option" },
      element("i", { class: "swatch", style: `background: ${paint(name).css}` }),
      element("span", {}, text),
      element("span", { class: "note" }, sum),
    );
    return this.walked(made, () => {
      select({ name, place: null, span: null });
      reveal({ kind: "step", isBack: false });
    });
  }

  private trackLine(track: number): HTMLElement {
    const spans = store.state.server.tracks[track]?.spans ?? 0;
    const sum = element("span", { class: "note" }, `thread · ${count(spans)} spans`);
    return this.walked(
      element(
        "button",
        { role: "option", "data-track": String(track) },
        element("i", { class: "swatch thread" }),
        element("span", {}, trackLabel(store.state, track)),
        sum,
      ),
      () => reveal({ kind: "track", track }),
    );
  }

  /** An item of the list, which is chosen by a click or by keys. */
  private walked(made: HTMLElement, choose: () => void): HTMLElement {
    made.addEventListener("click", () => {
      this.open(false);
      choose();
    });
    made.addEventListener("keydown", (event) => {
      const beside = (step: "nextElementSibling" | "previousElementSibling"): Element | null => {
        let at = made[step];
        while (at && at.tagName !== "BUTTON") at = at[step];
        return at;
      };
      const next = {
        ArrowDown: beside("nextElementSibling"),
        ArrowUp: beside("previousElementSibling") ?? this.field,
        Escape: this.field,
      }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      (next as HTMLElement | null)?.focus();
    });
    return made;
  }

  /** The next or previous matching thread. */
  private jumpToTrack(back: boolean): void {
    this.track = nextIn(this.tracks.length, this.track, back);
    this.open(false);
    reveal({ kind: "track", track: this.tracks[this.track] ?? 0 });
    // Enter continues with the next one.
    this.field.focus();
  }

  /** The next span or event of any matching name. */
  private async jump(back: boolean): Promise<void> {
    if (this.field.value === "") return;
    // After typing and pressing Enter at once, the jump waits for the search, which would undo it otherwise.
    if (this.sought !== this.field.value) this.seek();
    await this.finding;
    if (this.rows.length === 0 && this.tracks.length > 0) return this.jumpToTrack(back);
    const ts = Math.round(selectedAt(store.state.selection) ?? store.state.view.from);
    const found = await ask("next", { q: this.field.value, ts, back });
    if (!found) {
      this.hits.textContent = back ? "none before" : "none after";
      return;
    }
    this.open(false);
    reveal({ kind: "found", found });
  }
}
