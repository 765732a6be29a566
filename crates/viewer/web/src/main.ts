// The page: loads what the server has, and keeps it up to date.

import "./style.css";
import { ask, type State } from "./api";
import { acceptDrops } from "./drop";
import { bytes, parseTime } from "./format";
import { listen, showKeys, type Key } from "./keys";
import { openPanel, remember, restore, restoreOffsets } from "./link";
import { element } from "./panels/panel";
import { showWith } from "./panels/jump";
import { Tabs } from "./panels/tabs";
import { Search } from "./search";
import { NOTHING, store } from "./store";
import { applyTheme, toggleTheme } from "./theme";
import { toggleBoxMode } from "./timeline/input";
import { Minimap } from "./timeline/minimap";
import { Timeline } from "./timeline/timeline";

applyTheme();
const timeline = new Timeline();
showWith(timeline);
new Minimap();
const tabs = new Tabs();
timeline.openPanel = (id) => tabs.open(id);
const search = new Search(timeline);
const dialog = document.getElementById("dialog") as HTMLDialogElement;
const notice = document.getElementById("notice") as HTMLElement;

/** What the view waits for: all that is read, and then the view of the link; nothing where it is where it should be. */
let awaited: "link" | "all" | null = "link";
let isPlacing = false;
/** Somebody moved the view while it waited: it stays there. */
let hasMoved = false;
let hasOffsets = false;
let timer = 0;

/** Asks what is new, and asks again after a while. */
async function poll(): Promise<void> {
  clearTimeout(timer);
  let pause = 1500;
  try {
    await refresh();
    if (isLoading()) pause = 200;
    if (notice.dataset["why"] === "lost") say("", "");
  } catch (error) {
    // Without any answer, fetch throws this; what the server refuses is told in its words.
    const isGone = error instanceof TypeError || !(error instanceof Error);
    say(isGone ? "The server has ended, or cannot be reached. What is shown stays." : error.message, "lost");
  }
  timer = window.setTimeout(() => void poll(), pause);
}

function isLoading(): boolean {
  return store.state.revision < 0 || store.state.traces.some((trace) => trace.state === "loading");
}

async function refresh(): Promise<void> {
  const wasLoading = isLoading();
  const { revision } = store.state;
  const state = await ask<State | Pick<State, "revision" | "read_bytes" | "total_bytes">>("state", revision < 0 ? {} : { since: revision });
  if (!("traces" in state)) {
    Object.assign(store.state, state);
    return showProgress();
  }
  while (store.names.length < state.names) await addNames(store.names.length);
  store.state = state;
  if (awaited === "link" && !isLoading() && !hasOffsets) {
    hasOffsets = true;
    if (await restoreOffsets()) return refresh();
  }
  // The colour of a name may be known only after its first span.
  if (wasLoading && !isLoading()) for (let from = 0; from < store.names.length; from += 50_000) await addNames(from);
  showTraces();
  showProgress();
  store.tell("state");
  // A trace without times has no view to wait for, but panels to come back to.
  if (awaited && (state.from_ns !== null || !isLoading())) place();
}

async function addNames(from: number): Promise<void> {
  const more = await ask<[string, number | null][]>("names", { from });
  if (more.length === 0) throw new Error("a name is missing");
  more.forEach(([name, color], at) => {
    store.names[from + at] = name;
    store.colors[from + at] = color;
  });
}

/** While a trace loads the view follows it, unless somebody moves it; then it is as the link wants it. */
function place(): void {
  const { view } = store;
  const all = store.extent();
  isPlacing = true;
  const isRestored = !isLoading() && awaited === "link" && restore();
  if (hasMoved) store.look(view.from, view.to);
  else if (!isRestored) store.look(all.from, all.to);
  isPlacing = false;
  if (isLoading()) return;
  awaited = null;
  if (!isRestored) fitPanels();
}

/** Tracks that need little room leave it to the panels, and a trace without spans opens with the panel that has most. */
function fitPanels(): void {
  const { tracks, traces, logs } = store.state;
  const room = innerHeight - (document.getElementById("timeline")?.getBoundingClientRect().top ?? 100);
  if (store.panelHeight !== null) return;
  sizePanels(Math.min(Math.max(260, room - timeline.scene.contentHeight - 8), room * 0.68));
  if (tracks.some((track) => track.spans > 0) || openPanel() !== "selection") return;
  if (logs > 0) tabs.open("log");
  else if (traces.some((trace) => trace.memory !== null)) tabs.open("memory");
  else if (traces.some((trace) => trace.format.includes("nytprof"))) tabs.open("source");
  else if (traces.some((trace) => trace.state === "failed" || trace.findings > 0)) tabs.open("findings");
}

store.on("view", () => (hasMoved ||= awaited !== null && !isPlacing));

function say(text: string, why: string): void {
  notice.textContent = text;
  notice.dataset["why"] = why;
  notice.hidden = text === "";
}

function showTraces(): void {
  const { traces, tracks, logs } = store.state;
  const names = traces.map((trace) => trace.path.split(/[/\\]/).pop() ?? trace.path);
  const line = document.getElementById("traces") as HTMLElement;
  const [only] = traces;
  const about = traces.length === 1 && only ? [names[0], `${only.format} ${only.version}`.trim(), bytes(only.bytes)] : [names.join(", ")];
  line.textContent = about.filter((text) => text !== "").join(" · ");
  line.title = traces.map((trace) => trace.path).join("\n");
  document.title = `${names.join(", ").slice(0, 80)} – Traceloom`;
  const failed = traces.filter((trace) => trace.state === "failed").map((trace) => trace.error ?? "");
  const isEmpty = store.state.from_ns === null || (tracks.every((track) => track.spans + track.events + track.switches === 0) && logs === 0 && store.state.counters.length === 0 && traces.every((trace) => trace.memory === null));
  const empty = document.getElementById("empty") as HTMLElement;
  empty.hidden = !isEmpty || isLoading();
  empty.textContent = failed.length > 0 ? failed.join("\n") : "There is nothing on a time axis in this trace. The panels below show what there is.";
  if (failed.length > 0 && !isEmpty) say(`${failed.join(" ")} What was read is shown.`, "failed");
  else if (notice.dataset["why"] === "failed") say("", "");
}

function showProgress(): void {
  const host = document.getElementById("progress") as HTMLElement;
  const bar = host.firstElementChild as HTMLElement;
  const { read_bytes, total_bytes } = store.state;
  const part = total_bytes > 0 ? Math.min(1, read_bytes / total_bytes) : 0;
  const isOn = isLoading();
  bar.style.width = isOn ? `${100 * part}%` : "0";
  host.setAttribute("aria-valuenow", String(Math.round(100 * part)));
  const status = document.getElementById("status") as HTMLElement;
  status.textContent = isOn ? `reading ${Math.floor(100 * part)} % of ${bytes(total_bytes)}` : "";
}

function goto(): void {
  const input = element("input", { placeholder: "1.5s, 250ms", "aria-label": "Time" });
  const error = element("p", { class: "error", role: "alert" });
  const form = element("form", { method: "dialog" }, element("h3", {}, "Go to a time"), input, element("button", {}, "Go"), error);
  form.addEventListener("submit", (event) => {
    const at = parseTime(input.value);
    if (at === null) {
      event.preventDefault();
      error.textContent = "A time is a number with a unit, such as 1.5s or 250ms.";
      return;
    }
    const half = (store.view.to - store.view.from) / 2;
    store.look(at - half, at + half);
  });
  dialog.replaceChildren(form);
  dialog.showModal();
}

const keys: Key[] = [
  { keys: ["w", "+", "="], what: "zoom in", run: () => timeline.zoom(0.7) },
  { keys: ["s", "-"], what: "zoom out", run: () => timeline.zoom(1 / 0.7) },
  { keys: ["a", "ArrowLeft"], what: "move left", run: () => timeline.pan(-120) },
  { keys: ["d", "ArrowRight"], what: "move right", run: () => timeline.pan(120) },
  { keys: ["A"], what: "move left by a page", run: () => timeline.pan(-0.9 * timeline.width) },
  { keys: ["D"], what: "move right by a page", run: () => timeline.pan(0.9 * timeline.width) },
  { keys: ["ArrowUp"], what: "scroll up", run: () => timeline.scroll(-60) },
  { keys: ["ArrowDown"], what: "scroll down", run: () => timeline.scroll(60) },
  { keys: ["/"], what: "search; Enter jumps to the next, shift + Enter back", run: () => search.focus() },
  { keys: ["n", "."], what: "next span of the selected name", run: () => void timeline.step(false) },
  { keys: ["N", "p", ","], what: "previous span of the selected name", run: () => void timeline.step(true) },
  { keys: ["f", "Enter"], what: "zoom to the selection", run: () => timeline.zoomToSelection() },
  { keys: ["0", "Home"], what: "show everything", run: () => store.look(store.extent().from, store.extent().to) },
  { keys: ["g"], what: "go to a time", run: goto },
  { keys: ["b"], what: "dragging selects a box of time and tracks", run: toggleBoxMode },
  { keys: ["["], what: "previous panel", run: () => tabs.step(-1) },
  { keys: ["]"], what: "next panel", run: () => tabs.step(1) },
  { keys: ["c"], what: "fold all tracks, or unfold them", run: () => timeline.foldAll() },
  { keys: ["H"], what: "show hidden tracks", run: () => (store.hidden.clear(), store.tell("tracks")) },
  { keys: ["t"], what: "light or dark", run: toggleTheme },
  { keys: ["e"], what: "save the picture", run: () => timeline.save() },
  { keys: ["Escape"], what: "select nothing", run: () => store.select(NOTHING) },
  { keys: ["?"], what: "these keys", run: () => showKeys(dialog, keys) },
];
listen(keys);
const buttons = { goto, box: toggleBoxMode, png: () => timeline.save(), theme: toggleTheme, help: () => showKeys(dialog, keys) };
for (const [id, run] of Object.entries(buttons)) document.getElementById(id)?.addEventListener("click", run);
for (const topic of ["view", "selection", "tracks", "scroll", "state"] as const) store.on(topic, () => awaited ?? remember());
store.on("moved", () => void poll());
acceptDrops(
  () => {
    [awaited, hasMoved] = ["all", false];
    void poll();
  },
  (message) => say(message, "dropped"),
);

const divider = document.getElementById("divider") as HTMLElement;
const panels = document.getElementById("panels") as HTMLElement;
function sizePanels(height: number): void {
  store.panelHeight = Math.round(Math.min(Math.max(height, 60), innerHeight - 220));
  panels.style.height = `${store.panelHeight}px`;
  remember();
}
store.on("size", () => store.panelHeight !== null && sizePanels(store.panelHeight));
divider.addEventListener("pointerdown", (down) => {
  divider.setPointerCapture(down.pointerId);
  const move = (event: PointerEvent): void => sizePanels(innerHeight - event.clientY);
  divider.addEventListener("pointermove", move);
  divider.addEventListener("pointerup", () => divider.removeEventListener("pointermove", move), { once: true });
});
divider.addEventListener("keydown", (event) => {
  const by = { ArrowUp: 20, ArrowDown: -20 }[event.key];
  if (by === undefined) return;
  event.stopPropagation();
  sizePanels(panels.getBoundingClientRect().height + by);
});

void poll();
