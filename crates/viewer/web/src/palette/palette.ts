// The command palette: actions, panels, threads, files and names by typing.

import { ask } from "../api";
import { count } from "../format";
import { usefulPanels } from "../panels/registry";
import { closeTrace, look, openPanel, reveal, select, store } from "../store";
import { openTraces } from "../store/state";
import { traceLabel, trackLabel } from "../timeline/names";
import type { Key } from "../keys";
import { element } from "../widgets/dom";
import { ranked, type Command } from "./ranking";

/** Rows of the list; more are found by typing more. */
const MAX_COMMANDS = 14;

export class Palette {
  private readonly field = element("input", {
    type: "text",
    role: "combobox",
    placeholder: "Type an action, a panel, a thread or a name",
    "aria-label": "Command",
    "aria-expanded": "true",
    "aria-controls": "commandlist",
    autocomplete: "off",
    spellcheck: "false",
  });
  private readonly list = element("div", { id: "commandlist", role: "listbox", "aria-label": "Commands" });
  private commands: Command[] = [];
  private shown: Command[] = [];
  private active = 0;
  private asked = 0;

  constructor(
    private readonly dialog: HTMLDialogElement,
    private readonly keys: readonly Key[],
  ) {
    this.field.addEventListener("input", () => void this.seek());
    this.field.addEventListener("keydown", (event) => this.key(event));
    addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      if (!this.dialog.open) this.open();
    });
  }

  open(): void {
    this.commands = [...this.actions(), ...panels(), ...files(), ...threads()];
    this.field.value = "";
    this.dialog.replaceChildren(element("div", { class: "palette" }, this.field, this.list));
    this.dialog.showModal();
    this.field.focus();
    void this.seek();
  }

  private actions(): Command[] {
    return this.keys.map((key) => ({
      kind: "action",
      title: key.what,
      hint: key.keys[0] ?? "",
      run: () => key.run(),
    }));
  }

  /** Names come from the server, after everything that is known here. */
  private async seek(): Promise<void> {
    const number = ++this.asked;
    const text = this.field.value.trim();
    this.show(ranked(this.commands, text, MAX_COMMANDS));
    if (text === "") return;
    const answer = await ask("search", { q: text }).catch(() => null);
    if (number !== this.asked || !answer || !this.dialog.open) return;
    const names = answer.rows.slice(0, MAX_COMMANDS).map(([name, title, spans, , events]): Command => ({
      kind: "name",
      title,
      hint: `${count(spans + events)} ×`,
      run: () => {
        select({ name, place: null, span: null });
        reveal({ kind: "step", isBack: false });
      },
    }));
    this.show(ranked([...this.commands, ...names], text, MAX_COMMANDS));
  }

  private show(commands: Command[]): void {
    this.shown = commands;
    this.active = 0;
    this.list.replaceChildren(
      ...commands.map((command, at) => {
        const row = element(
          "div",
          { role: "option", id: `command-${at}`, "aria-selected": String(at === 0) },
          element("span", { class: "note" }, command.kind),
          element("span", {}, command.title),
          element("span", { class: "note" }, command.hint ?? ""),
        );
        row.addEventListener("click", () => this.run(at));
        return row;
      }),
    );
    this.mark(0);
  }

  private mark(at: number): void {
    this.list.children[this.active]?.setAttribute("aria-selected", "false");
    this.active = at;
    const row = this.list.children[at];
    row?.setAttribute("aria-selected", "true");
    row?.scrollIntoView({ block: "nearest" });
    this.field.setAttribute("aria-activedescendant", row?.id ?? "");
  }

  private key(event: KeyboardEvent): void {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined && this.shown.length > 0)
      this.mark((this.active + by + this.shown.length) % this.shown.length);
    else if (event.key === "Enter") this.run(this.active);
    else return;
    event.preventDefault();
  }

  private run(at: number): void {
    const command = this.shown[at];
    if (!command) return;
    // First, because an action may open a dialog itself.
    this.dialog.close();
    command.run();
  }
}

function panels(): Command[] {
  const useful = usefulPanels(store.state);
  return useful.map((panel) => ({ kind: "panel", title: panel.title, run: () => openPanel(panel.id) }));
}

function files(): Command[] {
  const { traces } = store.state.server;
  const open = openTraces(store.state);
  return open.flatMap((trace): Command[] => {
    const number = traces.indexOf(trace);
    const name = traceLabel(store.state, number);
    const zoom = (): void => look(trace.from_ns + trace.offset_ns, trace.to_ns + trace.offset_ns);
    const close: Command = { kind: "file", title: `close ${name}`, run: () => void closeTrace(number) };
    return [{ kind: "file", title: `zoom to ${name}`, run: zoom }, ...(open.length > 1 ? [close] : [])];
  });
}

function threads(): Command[] {
  return store.state.server.tracks.map((info, track) => ({
    kind: "thread",
    title: trackLabel(store.state, track),
    hint: info.spans > 0 ? `${count(info.spans)} spans` : "",
    run: () => reveal({ kind: "track", track }),
  }));
}
