// The page: loads what the server has, and keeps it up to date.

import "./style.css";
import { ask, send, type Found, type State } from "./api";
import { count, parseTime } from "./format";
import { listen, showKeys, type Key } from "./keys";
import { remember, restore } from "./link";
import { element } from "./panels/panel";
import { Tabs } from "./panels/tabs";
import { store } from "./store";
import { applyTheme, toggleTheme } from "./theme";
import { Minimap, Timeline } from "./timeline/timeline";

applyTheme();
const timeline = new Timeline();
new Minimap();
const tabs = new Tabs();
const dialog = document.getElementById("dialog") as HTMLDialogElement;
const search = document.getElementById("search") as HTMLInputElement;
const hits = document.getElementById("hits") as HTMLElement;

let isPlaced = false;

async function poll(): Promise<void> {
  const state = await ask<State>("state");
  if (state.names > store.names.length) {
    const more = await ask<[string, number | null][]>("names", { from: store.names.length });
    for (const [name, color] of more) {
      store.names.push(name);
      store.colors.push(color);
    }
  }
  const isNew = state.revision !== store.state.revision;
  const isLoading = state.traces.some((trace) => trace.state === "loading");
  store.state = state;
  if (isNew) {
    showTraces();
    store.tell("state");
    if (!isPlaced && state.from_ns !== null) place(isLoading);
  }
  showProgress(isLoading);
  setTimeout(() => void poll().catch(lost), isLoading ? 200 : 2000);
}

/** While a trace loads the view follows it; then it stays where it is. */
function place(isLoading: boolean): void {
  const all = store.extent();
  const isRestored = !isLoading && restore();
  if (!isRestored) store.look(all.from, all.to);
  isPlaced = !isLoading;
}

function lost(): void {
  hits.textContent = "the server has ended";
}

function showTraces(): void {
  const names = store.state.traces.map((trace) => trace.path.split("/").pop() ?? trace.path);
  const line = document.getElementById("traces") as HTMLElement;
  line.textContent = names.join(", ");
  document.title = `${names[0] ?? ""} – Traceloom`;
  const failed = store.state.traces.filter((trace) => trace.state === "failed").map((trace) => trace.error ?? "");
  const empty = document.getElementById("empty") as HTMLElement;
  const isDone = store.state.traces.every((trace) => trace.state !== "loading");
  const isEmpty = store.state.tracks.length === 0 && store.state.logs === 0;
  empty.hidden = !(failed.length > 0 || (isDone && isEmpty));
  empty.textContent = failed.length > 0 ? failed.join("\n") : "There is nothing on a time axis in this trace. The panels below show what there is.";
}

function showProgress(isLoading: boolean): void {
  const bar = document.querySelector("#progress > div") as HTMLElement;
  const { read_bytes, total_bytes } = store.state;
  bar.style.width = isLoading && total_bytes > 0 ? `${(100 * read_bytes) / total_bytes}%` : "0";
}

let found: [number, string, number, number][] = [];

async function find(): Promise<void> {
  if (search.value === "") {
    hits.textContent = "";
    return store.select({ name: null });
  }
  const answer = await ask<{ spans: number; names: number; rows: typeof found }>("search", { q: search.value });
  found = answer.rows;
  hits.textContent = `${count(answer.spans)} in ${count(answer.names)} names`;
  if (found[0]) store.select({ name: found[0][0] });
}

/** The next span of any name that was found. */
async function jump(back: boolean): Promise<void> {
  const from = Math.round(store.selection.span?.ts_ns ?? store.view.from);
  const asked = found.slice(0, 20).map(([name]) => ask<Found | null>("next", { name, ts: from, back }));
  const places = (await Promise.all(asked)).filter((place) => place !== null);
  places.sort((one, other) => (back ? other.ts_ns - one.ts_ns : one.ts_ns - other.ts_ns));
  if (places[0]) await timeline.show(places[0]);
}

search.addEventListener("input", () => void find());
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") void jump(event.shiftKey);
  if (event.key === "Escape") search.blur();
});

function goto(): void {
  const input = element("input", { placeholder: "1.5s, 250ms", "aria-label": "Time" });
  const form = element("form", { method: "dialog" }, element("p", {}, "Go to"), input, element("button", {}, "Go"));
  form.addEventListener("submit", () => {
    const at = parseTime(input.value);
    const half = (store.view.to - store.view.from) / 2;
    if (at !== null) store.look(at - half, at + half);
  });
  dialog.replaceChildren(form);
  dialog.showModal();
}

const keys: Key[] = [
  { keys: ["w", "+"], what: "zoom in", run: () => timeline.zoom(0.7) },
  { keys: ["s", "-"], what: "zoom out", run: () => timeline.zoom(1 / 0.7) },
  { keys: ["a", "ArrowLeft"], what: "move left", run: () => timeline.pan(-120) },
  { keys: ["d", "ArrowRight"], what: "move right", run: () => timeline.pan(120) },
  { keys: ["ArrowUp"], what: "scroll up", run: () => timeline.scroll(-60) },
  { keys: ["ArrowDown"], what: "scroll down", run: () => timeline.scroll(60) },
  { keys: ["/"], what: "search; Enter jumps to the next, shift + Enter back", run: () => search.focus() },
  { keys: ["n", "."], what: "next span of the selected name", run: () => void timeline.step(false) },
  { keys: ["N", "p", ","], what: "previous span of the selected name", run: () => void timeline.step(true) },
  { keys: ["f", "Enter"], what: "zoom to the selection", run: () => timeline.zoomToSelection() },
  { keys: ["0", "Home"], what: "show everything", run: () => store.look(store.extent().from, store.extent().to) },
  { keys: ["g"], what: "go to a time", run: goto },
  { keys: ["["], what: "previous panel", run: () => tabs.step(-1) },
  { keys: ["]"], what: "next panel", run: () => tabs.step(1) },
  { keys: ["H"], what: "show hidden tracks", run: () => (store.hidden.clear(), store.tell("tracks")) },
  { keys: ["t"], what: "light or dark", run: toggleTheme },
  { keys: ["e"], what: "save the picture", run: () => timeline.save() },
  { keys: ["Escape"], what: "select nothing", run: () => store.select({ place: null, span: null, name: null, range: null }) },
  { keys: ["?"], what: "these keys", run: () => showKeys(dialog, keys) },
];
listen(keys);
for (const [id, run] of [["goto", goto], ["png", () => timeline.save()], ["theme", toggleTheme], ["help", () => showKeys(dialog, keys)]] as const) {
  document.getElementById(id)?.addEventListener("click", run);
}
for (const topic of ["view", "selection", "tracks"] as const) store.on(topic, () => isPlaced && remember());

addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  const file = event.dataTransfer?.files[0];
  if (file) void send("open", { name: file.name }, file).then(() => (isPlaced = false));
});

const divider = document.getElementById("divider") as HTMLElement;
const panels = document.getElementById("panels") as HTMLElement;
function sizePanels(height: number): void {
  panels.style.height = `${Math.min(Math.max(height, 60), innerHeight - 260)}px`;
}
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

void poll().catch(lost);
