// The page: creates all parts and connects them.

import "./style.css";
import { acceptDrops, opener } from "./drop";
import { Feed } from "./feed";
import { goto } from "./goto";
import { complain, followTraces, say } from "./header";
import { listen, MOUSE, showKeys, type Key } from "./keys";
import { Linking } from "./linking";
import { Live } from "./live";
import { askNote } from "./notes/ask";
import { loadNotes } from "./notes/notes";
import { Palette } from "./palette/palette";
import { followSize, sizePanels } from "./panels/size";
import { Tabs } from "./panels/tabs";
import { followQueries } from "./queried/tracks";
import { Search } from "./search/search";
import { arrange, lookAtAll, NOTHING, select, store } from "./store";
import { followStore } from "./stored";
import { followTheme, toggleTheme } from "./theme";
import { toggleBoxMode } from "./timeline/input";
import { alignOthers, holdOrMeet } from "./timeline/align";
import { Edges } from "./timeline/edges";
import { Minimap } from "./timeline/minimap";
import { Timeline } from "./timeline/timeline";
import { TrackTools } from "./timeline/tools";
import { byId } from "./widgets/dom";

followTheme();
followStore();
followTraces();
const timeline = new Timeline();
new Edges(timeline);
new Minimap();
const tools = new TrackTools();
const linking = new Linking();
const tabs = new Tabs();
const search = new Search();
const dialog = byId("dialog") as HTMLDialogElement;

function selectNothing(): void {
  select(NOTHING);
  store.set({ held: null });
}

const timelineKeys: Key[] = [
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
  { keys: ["0", "Home"], what: "show everything", run: lookAtAll },
  { keys: ["l", "End"], what: "follow a trace that grows, or stop", run: () => live.toggle() },
  { keys: ["g"], what: "go to a time", run: () => goto(dialog) },
  { keys: ["m"], what: "add a note to the selection", run: () => askNote(dialog) },
  {
    keys: ["o"],
    what: "align other traces: their span of the same name and number starts with the selected one",
    run: alignOthers,
  },
  {
    keys: ["O"],
    what: "hold the selected span, then align one of another trace with it",
    run: holdOrMeet,
  },
  { keys: ["u"], what: "undo: restore the previous view and trace positions", run: () => linking.undo() },
  { keys: ["b"], what: "toggle box selection: dragging selects time and tracks", run: toggleBoxMode },
  { keys: ["T"], what: "filter tracks by name", run: () => tools.focus() },
  { keys: ["C"], what: "show one compact row per track, or all rows", run: () => tools.toggleCompact() },
  { keys: ["c"], what: "fold all tracks, or unfold them", run: () => timeline.foldAll() },
  { keys: ["H"], what: "show hidden tracks", run: () => arrange({ hidden: new Set() }) },
  { keys: ["e"], what: "save as an image", run: () => timeline.save() },
  { keys: ["Escape"], what: "clear the selection", run: selectNothing },
];
const storeKeys: Key[] = [{ keys: ["/"], what: "filter the list", run: () => tabs.focusFilter() }];
const isStore = store.state.stored !== null;
const keys: Key[] = [
  ...(isStore ? storeKeys : timelineKeys),
  { keys: ["["], what: "previous panel", run: () => tabs.step(-1) },
  { keys: ["]"], what: "next panel", run: () => tabs.step(1) },
  { keys: ["t"], what: "switch between light and dark", run: toggleTheme },
  { keys: ["?"], what: "show these keys", run: () => showKeys(dialog, keys, isStore ? [] : MOUSE) },
];
listen(keys);
const commands = new Palette(dialog, keys);
const buttons = {
  commands: () => commands.open(),
  goto: () => goto(dialog),
  box: toggleBoxMode,
  png: () => timeline.save(),
  theme: toggleTheme,
  help: () => showKeys(dialog, keys, isStore ? [] : MOUSE),
};
for (const [id, run] of Object.entries(buttons)) byId(id).addEventListener("click", run);

/** Gives the panels the space that few tracks leave. */
function fitPanels(): void {
  if (store.state.panelHeight !== null) return;
  const room = innerHeight - byId("timeline").getBoundingClientRect().top;
  sizePanels(Math.min(Math.max(260, room - timeline.scene.contentHeight - 8), room * 0.68));
}

followSize();
followQueries();
const live = new Live();
const feed = new Feed(linking, {
  lost: (reason) => say(reason, "lost"),
  placed: (isRestored) => isRestored || fitPanels(),
});
/** Opens files of the user. */
export const open = opener(() => feed.added(), complain);
acceptDrops(open);
void feed.poll();
store.subscribe(
  ({ server }) => server.traces.length,
  () => void loadNotes().catch(complain),
);
