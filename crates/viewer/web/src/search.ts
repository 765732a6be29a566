// The search: how many there are, and where the next one is.

import { ask, type Found } from "./api";
import { count, duration } from "./format";
import { element } from "./panels/panel";
import { store } from "./store";
import { paint } from "./theme";
import type { Timeline } from "./timeline/timeline";

type Row = [name: number, text: string, spans: number, totalNs: number, events: number];

interface Answer {
  spans: number;
  events: number;
  names: number;
  rows: Row[];
}

/** Names in the list below the field; the rest is only counted. */
const LISTED = 12;

export class Search {
  private readonly field = document.getElementById("search") as HTMLInputElement;
  private readonly hits = document.getElementById("hits") as HTMLElement;
  private readonly list = document.getElementById("names") as HTMLElement;
  private rows: Row[] = [];
  private asked = 0;
  private waiting = 0;
  /** The text that was looked for last, and the looking. */
  private sought = "";
  private finding = Promise.resolve();

  constructor(private readonly timeline: Timeline) {
    this.field.addEventListener("input", () => {
      clearTimeout(this.waiting);
      this.waiting = window.setTimeout(() => this.seek(), 80);
    });
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.field.addEventListener("focus", () => this.open(this.rows.length > 0));
    // Later, so that a click into the list still finds it.
    this.field.addEventListener("blur", () => setTimeout(() => this.list.contains(document.activeElement) || this.open(false), 120));
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
      } else this.field.blur();
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
      this.rows = [];
      this.hits.textContent = "";
      this.open(false);
      store.found = null;
      return store.tell("selection");
    }
    const answer = await ask<Answer>("search", { q: text }).catch(() => null);
    if (number !== this.asked || !answer) return;
    this.rows = answer.rows;
    const counted = [answer.spans > 0 ? `${count(answer.spans)} spans` : "", answer.events > 0 ? `${count(answer.events)} events` : ""];
    this.hits.textContent = answer.names === 0 ? "none" : `${counted.filter(Boolean).join(", ")} in ${count(answer.names)} ${answer.names === 1 ? "name" : "names"}`;
    store.found = new Set(answer.rows.map(([name]) => name));
    this.fill();
    store.select({ name: null });
  }

  private fill(): void {
    this.list.replaceChildren(...this.rows.slice(0, LISTED).map((row) => this.line(row)));
    if (this.rows.length > LISTED) this.list.append(element("div", { class: "note" }, `and ${count(this.rows.length - LISTED)} more`));
    this.open(this.rows.length > 0 && document.activeElement === this.field);
  }

  private line([name, text, spans, totalNs, events]: Row): HTMLElement {
    const sum = spans > 0 ? `${count(spans)} × · ${duration(totalNs)}` : `${count(events)} events`;
    const made = element(
      "button",
      { role: "option" },
      element("i", { class: "swatch", style: `background: ${paint(name).css}` }),
      element("span", {}, text),
      element("span", { class: "note" }, sum),
    );
    made.addEventListener("click", () => {
      this.open(false);
      store.select({ name, place: null, span: null });
      void this.timeline.step(false);
    });
    made.addEventListener("keydown", (event) => {
      const next = { ArrowDown: made.nextElementSibling, ArrowUp: made.previousElementSibling ?? this.field, Escape: this.field }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      (next as HTMLElement | null)?.focus();
    });
    return made;
  }

  /** The next span or event of any name that was found. */
  private async jump(back: boolean): Promise<void> {
    if (this.field.value === "") return;
    // Who types and presses Enter at once jumps when all is found, which would undo the jump.
    if (this.sought !== this.field.value) this.seek();
    await this.finding;
    const { span, event } = store.selection;
    const ts = BigInt(Math.round(span?.ts_ns ?? event?.ts_ns ?? store.view.from)).toString();
    const found = await ask<Found | null>("next", { q: this.field.value, ts, back });
    if (!found) {
      this.hits.textContent = back ? "none before" : "none after";
      return;
    }
    this.open(false);
    await this.timeline.show(found);
  }
}
