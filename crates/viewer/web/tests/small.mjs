// Small usability issues for new users: keys, clicks, empty views.

import assert from "node:assert/strict";
import { isShown, test, until } from "./viewer.mjs";

/// Escape leaves the search and returns the focus to the timeline.
async function searchIsLeft(viewer) {
  const { page } = viewer;
  await viewer.press("/");
  await page.keyboard.type("Frame");
  await viewer.press("Enter");
  await viewer.linkIs("a frame is selected", ({ place }) => place !== null);
  await viewer.press("Escape", "f");
  await viewer.linkIs("f zooms to it", ({ from, to }) => to - from < 20e6);
  assert.equal(await page.locator("#search").inputValue(), "");
}

/// The card at the pointer disappears when the panel shows the same, and when a key moves the view.
async function cardGoes(viewer) {
  const { page } = viewer;
  const card = page.locator("#hover");
  await viewer.press("Escape", "0");
  await viewer.selectName("Frame");
  await viewer.isDrawn();
  // Far from the selected one, which comes to the middle of the view.
  const [other] = viewer.query(
    "select ts_ns + dur_ns / 2 as ns from spans where name = 'Frame' order by ts_ns offset 3",
  );
  await viewer.point("Frame", other.ns);
  await card.waitFor();
  await viewer.press("f");
  const { from, to } = await viewer.linkIs("it fills the view", ({ from, to }) => to - from < 20e6);
  await card.waitFor({ state: "hidden" });
  await timeIsOfThePointer(viewer);
  await viewer.isDrawn();
  await viewer.point("Update", from + 0.3 * (to - from));
  await card.waitFor();
  await page.mouse.down();
  await page.mouse.up();
  await card.waitFor({ state: "hidden" });
  await viewer.point("Physics", from + 0.3 * (to - from));
  await card.waitFor();
  await viewer.press("0");
  await card.waitFor({ state: "hidden" });
  await timeIsOfThePointer(viewer);
}

/// The time in the corner is that of the pointer in the view of now.
async function timeIsOfThePointer(viewer) {
  const box = await viewer.page.locator("#picture").boundingBox();
  const part = (viewer.pointer[0] - box.x) / box.width;
  await until(
    "the corner shows the time of the pointer",
    async () => [await viewer.link(), await viewer.page.locator("#corner").textContent()],
    ([{ from, to }, text]) => isShown(text, from + part * (to - from)),
  );
}

/// A view without spans links to the nearest spans.
async function emptyViewLeadsOn(viewer) {
  const { page } = viewer;
  const [{ end }] = viewer.query("select max(ts_ns + dur_ns) as end from spans");
  const { from, to } = await viewer.link();
  await page.evaluate(
    ([hash, from, to]) => {
      location.hash = encodeURIComponent(JSON.stringify({ ...JSON.parse(decodeURIComponent(hash)), from, to }));
    },
    [(await page.evaluate(() => location.hash)).slice(1), end + 50_000, end + 60_000],
  );
  const hint = page.locator("#edges button").filter({ hasText: "previous span" });
  await hint.click();
  await viewer.linkIs("a span is in the view", (link) => link.from < end && link.to - link.from < to - from);
}

/// A double click on the heading of a file shows the whole file.
async function headingZooms(viewer) {
  const [{ first, last }] = viewer.query(
    "select first_ts_ns as first, last_ts_ns as last from traces order by path limit 1",
  );
  await viewer.press("0");
  await viewer.page.locator('.label.group [data-what^="group"]').first().dblclick();
  await viewer.linkIs(
    "the view is the file's",
    ({ from, to }) => from <= first && to >= last && to - from < 1.2 * (last - first),
  );
}

/// A low window keeps its header, its picture and its panel.
async function lowWindowHasAll(viewer) {
  const { page } = viewer;
  await page.setViewportSize({ width: 1280, height: 300 });
  for (const part of ["#search", "#picture", "#tabs"]) {
    await until(
      `${part} is in the window`,
      () => page.locator(part).boundingBox(),
      (box) => box !== null && box.y >= 0 && box.y + Math.min(box.height, 20) <= 300,
    );
  }
  await page.setViewportSize({ width: 1280, height: 720 });
}

/// The example of the SQL panel runs automatically.
async function exampleIsAnswered(viewer) {
  const panel = await viewer.panel("sql");
  await panel.getByText(/\d+ rows? in /).waitFor();
  await panel.locator("tbody tr:not(.space)").first().waitFor();
}

/// Every query is answered or refused, and the next one is answered.
async function oddQueriesAreSurvived(viewer) {
  const panel = await viewer.panel("sql");
  const text = viewer.page.getByLabel("SQL query");
  const ask = async (sql) => {
    await text.fill(sql);
    const answered = viewer.page.waitForResponse((response) => /\/api\/sql(\?|$)/.test(response.url()));
    await text.press("Control+Enter");
    return (await answered).json();
  };
  const odd = [`select ${"1+".repeat(2_000)}1`, `select ${"(".repeat(20_000)}1`, "select array_repeat(1, 2000000000)"];
  for (const sql of odd) {
    assert.ok("problem" in (await ask(sql)), sql.slice(0, 40));
    await panel.locator(".problem").waitFor();
  }
  assert.ok("rows" in (await ask("select 7 as seven")));
  await panel.locator("tbody").getByText("7", { exact: true }).waitFor();
}

/// Stepping through spans without a selected name shows a message.
async function nothingToStepThrough(viewer) {
  const { page } = viewer;
  await viewer.focus();
  await viewer.press("Escape", "n");
  const toast = page.locator(".toast").filter({ hasText: "Select a span" });
  await toast.getByRole("button", { name: "Close" }).click();
  await toast.waitFor({ state: "detached" });
}

/// Both columns of the findings come at once, and until then the panel says what it waits for.
async function findingsComeAtOnce(viewer) {
  const { page } = viewer;
  let answer = () => {};
  const held = new Promise((resolve) => (answer = resolve));
  await page.route("**/api/advice*", async (route) => {
    await held;
    await route.continue();
  });
  const asked = page.waitForResponse((response) => response.url().includes("/api/findings"));
  const panel = await viewer.panel("findings");
  await (await asked).finished();
  await panel.getByText("Looking for problems").waitFor();
  assert.equal(await panel.locator("h2").count(), 0, "no column comes alone");
  answer();
  await until(
    "both are there",
    () => panel.locator("h2").allTextContents(),
    (heads) => heads.length === 2,
  );
  await page.unroute("**/api/advice*");
}

/// When every byte is read, the page says what it still does.
async function arrangingIsSaid(viewer) {
  const { page } = viewer;
  await page.route("**/api/state*", async (route) => {
    const response = await route.fetch();
    const state = await response.json();
    const traces = state.traces?.map((trace) => ({ ...trace, state: "loading" }));
    await route.fulfill({ response, json: { ...state, read_bytes: 9, total_bytes: 9, ...(traces && { traces }) } });
  });
  await page.reload();
  await page.locator("#status").filter({ hasText: "arranging tracks" }).waitFor();
  await page.unroute("**/api/state*");
  await page.reload();
  await viewer.isDrawn();
  assert.equal(await page.locator("#status").textContent(), "");
}

const STEPS = [
  nothingToStepThrough,
  searchIsLeft,
  cardGoes,
  emptyViewLeadsOn,
  headingZooms,
  lowWindowHasAll,
  exampleIsAnswered,
  oddQueriesAreSurvived,
  arrangingIsSaid,
];

await test(async (viewer) => {
  await findingsComeAtOnce(viewer);
  await viewer.focus();
  for (const step of STEPS) await step(viewer);
});
