// Keys and mouse on the timeline: moving, searching, selecting.

import assert from "node:assert/strict";
import { isShown, test, until } from "./viewer.mjs";

const width = ({ from, to }) => to - from;
const middle = ({ from, to }) => (from + to) / 2;
const isNear = (one, other, reach) => Math.abs(one - other) <= reach;

async function keysMove(viewer, { first_ts_ns: first, last_ts_ns: last }) {
  await viewer.focus();
  await viewer.press("w");
  const isAll = ({ from, to }) => from <= first && to >= last && to - from <= (last - first) * 1.21;
  await viewer.moves(
    "0 shows everything",
    () => viewer.press("0"),
    (_, after) => isAll(after),
  );
  const zooms = (factor, key) =>
    viewer.moves(
      `${key} zooms`,
      () => viewer.press(key),
      (before, after) =>
        isNear(width(after), width(before) * factor, width(before) * 0.02) &&
        isNear(middle(after), middle(before), width(before) * 0.01),
    );
  for (const key of ["w", "+", "w"]) await zooms(0.7, key);
  for (const key of ["s", "-"]) await zooms(1 / 0.7, key);
  for (const [key, way] of [
    ["a", -1],
    ["ArrowLeft", -1],
    ["d", 1],
    ["ArrowRight", 1],
  ]) {
    await viewer.moves(
      `${key} moves`,
      () => viewer.press(key),
      (before, after) => way * (after.from - before.from) > 0 && isNear(width(after), width(before), 2),
    );
  }
}

async function mouseMoves(viewer) {
  const box = await viewer.page.locator("#picture").boundingBox();
  const [x, y] = [box.x + box.width / 4, box.y + box.height / 2];
  await viewer.page.mouse.move(x, y);
  const under = ({ from, to }) => from + 0.25 * (to - from);
  await viewer.moves(
    "the wheel zooms in where the pointer is",
    () => viewer.page.mouse.wheel(0, -200),
    (before, after) => width(after) < width(before) * 0.9 && isNear(under(after), under(before), width(before) * 0.01),
  );
  await viewer.moves(
    "dragging moves by as much as the pointer",
    () => viewer.drag([x, y], [x + 100, y]),
    (before, after) => isNear(before.from - after.from, (100 / box.width) * width(before), width(before) * 0.01),
  );
  await viewer.page.keyboard.down("Alt");
  await viewer.moves(
    "the wheel with alt moves",
    () => viewer.page.mouse.wheel(0, 100),
    (before, after) => after.from > before.from && isNear(width(after), width(before), 2),
  );
  await viewer.page.keyboard.up("Alt");
}

async function minimapMoves(viewer, { first_ts_ns: first, last_ts_ns: last }) {
  const box = await viewer.page.locator("#minimap").boundingBox();
  await viewer.press("0", ..."wwwwww");
  const isAt = (part) => (link) => isNear(middle(link), first + part * (last - first), (last - first) * 0.02);
  await viewer.linkIs(
    "the view is small and in the middle",
    (link) => isAt(0.5)(link) && width(link) < (last - first) * 0.2,
  );
  await viewer.drag([box.x + box.width * 0.1, box.y + 10], [box.x + box.width * 0.3, box.y + 10]);
  await viewer.linkIs("the view goes where the overview is pressed, and follows the pointer", isAt(0.3));
  await viewer.drag([box.x + box.width * 0.3, box.y + 10], [box.x + box.width * 0.7, box.y + 10]);
  await viewer.linkIs("the view is dragged", isAt(0.7));
}

async function searchFinds(viewer) {
  const named = "from spans where name = 'Collide'";
  const [{ n }] = viewer.query(`select count(*) n ${named}`);
  const [first, second] = viewer.query(`select ts_ns, dur_ns ${named} order by ts_ns limit 2`);
  const isAt =
    ({ ts_ns }) =>
    ({ name }, shown) =>
      name === "Collide" && isShown(/\bat([\d.]+ (?:s|ms|µs|ns))average/.exec(shown)?.[1] ?? "", ts_ns);
  const selects = async (what, span) => {
    const [isRight, panel] = [isAt(span), viewer.page.locator("#panel")];
    await until(
      what,
      async () => [await viewer.link(), await panel.textContent()],
      ([link, shown]) => link !== null && isRight(link, shown),
    );
  };
  await viewer.press("0", "/");
  await viewer.page.keyboard.type("collide");
  await viewer.press("Enter");
  await selects("Enter selects the first", first);
  const hits = await viewer.page.locator("#hits").textContent();
  assert.ok(hits.includes(`${n.toLocaleString("en-US")} spans`), hits);
  await viewer.press("Enter");
  await selects("Enter again selects the next", second);
  await viewer.press("Shift+Enter");
  await selects("with shift it goes back", first);
  await viewer.focus();
  await viewer.press("n");
  await selects("n selects the next of the name", second);
  await viewer.press("p");
  await selects("p selects the one before", first);
  await viewer.press("f");
  await viewer.linkIs(
    "f zooms to it",
    ({ from, to }) => from <= first.ts_ns && to >= first.ts_ns + first.dur_ns && to - from < first.dur_ns * 2,
  );
  await viewer.press("Escape");
  await viewer.linkIs(
    "Escape selects nothing",
    ({ name, place, range }) => name === null && place === null && range === null,
  );
}

/// The contents of a selected span keep their color.
async function childrenStayStrong(viewer) {
  await viewer.selectName("Frame");
  await viewer.press("n", "f");
  await viewer.linkIs("a frame fills the view", ({ place }) => place !== null);
  const picture = async () => {
    await viewer.isDrawn();
    // Below the row of the frame, and clear of its edges.
    return viewer.page.locator("#picture").evaluate((canvas) => {
      const context = canvas.getContext("2d");
      return [...context.getImageData(canvas.width * 0.15, 94, canvas.width * 0.7, 48).data];
    });
  };
  await viewer.page.locator("#panel strong").filter({ hasText: "Frame" }).first().waitFor();
  // Finer bars may arrive after the first picture.
  const still = async () => {
    const same = ([one, other]) => one.length === other.length && one.every((part, at) => part === other[at]);
    return (await until("the picture stays", async () => [await picture(), await picture()], same))[0];
  };
  const selected = await still();
  await viewer.press("Escape");
  await viewer.linkIs("nothing is selected", ({ place, name }) => place === null && name === null);
  const plain = await still();
  const changed = plain.filter((part, at) => part !== selected[at]).length;
  assert.ok(changed < plain.length / 200, `${changed} of ${plain.length} parts of pixels changed`);
}

/// Keys that are pressed faster than the server answers have the same effect.
async function keysMayBeFast(viewer) {
  const spans = viewer.query("select ts_ns, dur_ns from spans where name = 'Collide' order by ts_ns limit 4");
  await viewer.selectName("Collide");
  const slow = async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 150));
    await route.continue();
  };
  const questions = /\/api\/(next|span)\?/;
  await viewer.page.route(questions, slow);
  await viewer.press("n", "n", "n", "f");
  const { ts_ns: ts, dur_ns: long } = spans[3];
  await viewer.linkIs(
    "the third after it fills the view",
    ({ from, to }) => from <= ts && to >= ts + long && to - from < long * 2,
  );
  await viewer.page.unroute(questions, slow);
  await viewer.press("Escape");
}

/// The page follows the system theme until the user chooses one.
async function themeFollows(viewer) {
  const theme = viewer.page.locator("html");
  const is = (wanted) =>
    until(
      `the page is ${wanted}`,
      () => theme.getAttribute("data-theme"),
      (found) => found === wanted,
    );
  for (const colorScheme of ["dark", "light"]) {
    await viewer.page.emulateMedia({ colorScheme });
    await is(colorScheme);
  }
  await viewer.press("t");
  await is("dark");
  await viewer.page.emulateMedia({ colorScheme: "light" });
  await is("dark");
  await viewer.press("t");
}

async function gotoMoves(viewer) {
  await viewer.press("g");
  const dialog = viewer.page.getByRole("dialog");
  await dialog.waitFor();
  await viewer.page.keyboard.type("nonsense");
  await viewer.press("Enter");
  await dialog.getByRole("alert").getByText("number with a unit").waitFor();
  await dialog.getByLabel("Time").fill("1.25s");
  await viewer.press("Enter");
  await viewer.linkIs("g goes to a time", (link) => isNear(middle(link), 1.25e9, 1000));
  await dialog.waitFor({ state: "hidden" });
}

/// A box of time and tracks, with shift and on the ruler, with the same totals as the program.
async function boxSelects(viewer) {
  await viewer.press("0");
  await viewer.linkIs("everything is shown", ({ from }) => from <= 0);
  const box = await viewer.page.locator("#picture").boundingBox();
  const [left, right] = [box.x + box.width * 0.3, box.x + box.width * 0.6];
  await viewer.drag([left, box.y + 8], [right, box.y + 8]);
  const { range, tracks } = await viewer.linkIs("dragging on the ruler selects", ({ range }) => range);
  assert.equal(tracks, null, "all tracks");
  const [from, to] = range;
  const stats = viewer.cli("stats", "--json", "--range", `${from}ns..${to}ns`, viewer.asked.files[0]);
  const totals = () =>
    viewer.page
      .locator("[data-totals]")
      .evaluate((list) =>
        Object.fromEntries(
          [...list.querySelectorAll("dt")].map((term) => [term.textContent, term.nextElementSibling.textContent]),
        ),
      );
  await viewer.panel("selection");
  const shown = await until("the totals are shown", totals, ({ spans }) => spans);
  const sum = (key) => stats.spans.reduce((sum, row) => sum + row[key], 0);
  assert.ok(isShown(shown.spans, sum("calls")), `${shown.spans} spans, ${sum("calls")} expected`);
  assert.ok(isShown(shown.names, stats.spans.length), `${shown.names} names, ${stats.spans.length} expected`);
  assert.ok(isShown(shown.sum, sum("total_ns")), `${shown.sum} in all, ${sum("total_ns")} expected`);
  const heads = viewer.page.locator(".label.head");
  const head = await heads.first().boundingBox();
  await viewer.page.keyboard.down("Shift");
  await viewer.drag([left, head.y + 5], [right, head.y + head.height + 2]);
  await viewer.page.keyboard.up("Shift");
  await viewer.linkIs("with shift only some tracks are selected", ({ range, tracks }) => range && tracks?.length === 1);
  await viewer.press("Escape");
  await viewer.linkIs("Escape clears it", ({ range, tracks }) => range === null && tracks === null);
}

/// The card next to the pointer and a click both show the data of the tables.
async function spansAreUnderThePointer(viewer) {
  const [span] = viewer.query("select ts_ns, dur_ns, self_ns from spans where name = 'Collide' order by ts_ns limit 1");
  const named = viewer.cli("stats", "--json", "--name", "Collide", viewer.asked.files[0]).spans[0];
  await viewer.selectName("Collide");
  await viewer.press("f");
  await viewer.linkIs("and fills the view", ({ from, to }) => to - from < span.dur_ns * 2);
  await viewer.press("Escape");
  await viewer.isDrawn();
  await viewer.point("Collide", span.ts_ns + span.dur_ns / 2);
  const card = viewer.page.locator("#hover");
  const told = await until(
    "the card tells of it",
    () => card.textContent(),
    (text) => text.includes("Collide"),
  );
  const facts = await card.evaluate((card) =>
    Object.fromEntries(
      [...card.querySelectorAll("dt")].map((term) => [term.textContent, term.nextElementSibling.textContent]),
    ),
  );
  assert.ok(isShown(facts.total.split("  ")[0], span.dur_ns), `${told}: ${span.dur_ns} ns expected`);
  assert.ok(isShown(facts.self.split("  ")[0], span.self_ns), `${told}: ${span.self_ns} ns of self time expected`);
  assert.ok(isShown(facts.average.split("  ")[0], named.mean_ns), `${told}: ${named.mean_ns} ns on average expected`);
  await viewer.page.mouse.down();
  await viewer.page.mouse.up();
  await viewer.linkIs("a click selects the span and its name", ({ name, place }) => name === "Collide" && place);
  await viewer.page.mouse.dblclick(...viewer.pointer);
  await viewer.linkIs(
    "a double click zooms to it",
    ({ from, to }) => from <= span.ts_ns && to - from < span.dur_ns * 1.3,
  );
  await viewer.press("Escape");
}

const STEPS = [
  searchFinds,
  childrenStayStrong,
  keysMayBeFast,
  themeFollows,
  gotoMoves,
  boxSelects,
  spansAreUnderThePointer,
];

await test(async (viewer) => {
  const [extent] = viewer.query("select first_ts_ns, last_ts_ns from traces");
  await keysMove(viewer, extent);
  await mouseMoves(viewer);
  await minimapMoves(viewer, extent);
  for (const step of STEPS) await step(viewer);
});
