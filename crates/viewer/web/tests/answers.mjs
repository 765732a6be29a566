// Callers, contents and events of a selection are two clicks away.

import assert from "node:assert/strict";
import fs from "node:fs";
import { growthIsSorted } from "./panels/content.mjs";
import { shows, test, until, Viewer } from "./viewer.mjs";

/// Selects the first span of a name; returns the panel that explains it.
async function explained(viewer, name) {
  await viewer.selectName(name);
  const panel = await viewer.panel("selection");
  await panel.locator(".way b").filter({ hasText: name }).waitFor();
  return panel;
}

/// Callers, callees, other spans of the name and what happened during it match the tables; the buttons work.
async function span(viewer) {
  const panel = await explained(viewer, "Physics");
  await panel.locator(".way button").filter({ hasText: "Update" }).waitFor();
  assert.deepEqual(await panel.locator(".way button").allTextContents(), ["Main", "Frame", "Update"]);
  const [expected] =
    viewer.query(`select count(*) n, sum(c.dur_ns) total from spans c join spans p on c.parent_id = p.id
    where p.id = (select id from spans where name = 'Physics' order by ts_ns limit 1)`);
  const row = panel.locator(".shares li").first();
  const [total, , calls, name] = await row.locator("> *").allTextContents();
  assert.equal(name, "Collide");
  shows(total, expected.total, "time of the callees");
  assert.equal(calls, `${expected.n} ×`);
  await panel.getByText("120; ").waitFor();
  await panel.getByRole("button", { name: "SQL" }).click();
  await viewer.rowsAre("the query ran", (rows) => rows.length === 1 && rows[0].name === "Physics");
  await (await viewer.panel("selection")).getByRole("button", { name: "Flame graph" }).click();
  await viewer.page.locator("#panel .flamebody[data-shows]").waitFor();
  await viewer.linkIs("the graph is of the span", ({ range, tracks }) => range && tracks?.length === 1);
  await viewer.press("Escape");
  await explained(viewer, "Physics");
  await viewer.panel("stats");
  await viewer.choose("selection");
  await viewer.rowsAre("what is in the span is counted", (rows) => {
    const names = rows.map(({ Name }) => Name).sort();
    return names.join() === "Collide,Physics" && rows.find(({ Name }) => Name === "Collide").Calls === `${expected.n}`;
  });
  await viewer.panel("selection");
  await panel.locator(".shares button").first().click();
  await panel.locator(".way b").filter({ hasText: "Collide" }).waitFor();
  await panel.locator(".way button").filter({ hasText: "Physics" }).click();
  await panel.locator(".way b").filter({ hasText: "Physics" }).waitFor();
}

/// A flow can be followed in both directions.
async function flows(viewer) {
  const [flow] = viewer.query(`select f.name as from_name, t.name as to_name from links l
    join spans f on f.id = l.from_span_id join spans t on t.id = l.to_span_id where f.id <> t.id order by l.ts_ns limit 1`);
  const panel = await explained(viewer, flow.from_name);
  const lead = (side, name) =>
    panel
      .locator("li")
      .filter({ hasText: new RegExp(`^${side} ${name}`) })
      .getByRole("button");
  for (const [side, name] of [
    ["to", flow.to_name],
    ["from", flow.from_name],
  ]) {
    await lead(side, name).first().click();
    await panel.locator(".way b").filter({ hasText: name }).waitFor();
  }
}

async function caller(viewer) {
  const [row] = viewer.query(`select s.name, f.name || ':' || l.uint_value as place from spans s
    join args a on a.owner_id = s.id and a.owner_table = 'spans' and a.key = 'caller_file_id'
    join args l on l.owner_id = s.id and l.owner_table = 'spans' and l.key = 'caller_line'
    join files f on f.id = a.uint_value order by s.ts_ns limit 1 offset 1`);
  const panel = await explained(viewer, row.name);
  await panel.getByText(row.place, { exact: true }).waitFor();
  assert.equal(await panel.getByText("caller_file_id").count(), 0);
}

/// Drags over the middle of the ruler; returns the contents of the panel for the range.
async function ofRange(viewer) {
  const box = await viewer.page.locator("#picture").boundingBox();
  await viewer.drag([box.x + box.width * 0.3, box.y + 8], [box.x + box.width * 0.7, box.y + 8]);
  const { range } = await viewer.linkIs("a range is selected", ({ range }) => range);
  await viewer.panel("selection");
  const facts = await until(
    "the range is described",
    () => viewer.facts("#panel [data-totals]"),
    (facts) => Object.keys(facts).length > 0,
  );
  return { range, facts };
}

async function logs(viewer) {
  const { range, facts } = await ofRange(viewer);
  const rows = viewer.query(
    `select level_name as level, count(*) n from logs where ts_ns >= ${range[0]} and ts_ns < ${range[1]} group by level_name`,
  );
  assert.ok(rows.length > 1);
  for (const { level, n } of rows) shows(facts[`log ${level}`].split(":")[0], n, `lines of ${level}`);
  assert.equal(facts.spans, undefined, "a log has no spans");
}

async function memory(viewer) {
  const { range, facts } = await ofRange(viewer);
  const [row] = viewer.query(`select sum(size_bytes) bytes from allocations
    where ts_ns >= ${range[0]} and ts_ns < ${range[1]}`);
  shows(facts.allocated.split(" in ")[0], row.bytes, "bytes allocated");
}

/// Sites that take more in each quarter are marked, although others take more bytes.
async function growth(viewer) {
  const { sites } = viewer.cli("memory", "--json", "--limit", "1000", ...viewer.asked.files);
  await viewer.panel("memory");
  const rows = await growthIsSorted(viewer, sites);
  const marked = rows.filter(({ grows }) => grows !== "");
  assert.ok(marked.length > 0 && marked.length < rows.length, `${marked.length} of ${rows.length} sites grow`);
}

/// Actions, panels, threads and names by typing.
async function commands(viewer) {
  const dialog = viewer.page.getByRole("dialog");
  const run = async (text, kind) => {
    await viewer.press("Control+k");
    await dialog.getByRole("combobox").fill(text);
    await dialog.locator('[aria-selected="true"]').filter({ hasText: kind }).waitFor();
    await viewer.press("Enter");
    await dialog.waitFor({ state: "hidden" });
  };
  await run("histo", "panel");
  await viewer.linkIs("a panel is opened", ({ panel }) => panel === "histogram");
  await run("Collide", "name");
  await viewer.linkIs("a name is selected", ({ name, place }) => name === "Collide" && place);
  await run("show everything", "action");
  await viewer.linkIs("an action is done", ({ from }) => from <= 0);
  await run("Loader", "thread");
  await viewer.page.locator(".label.found").filter({ hasText: "Loader" }).waitFor();
}

/// The overview opens first, and each item is one click away from its place.
async function overview(viewer) {
  const { page, asked } = viewer;
  assert.equal((await viewer.tabs())[0], "overview");
  const first = page.getByLabel("Worth a look").locator("li button").first();
  await first.waitFor();
  const { findings, slow, memory, logs } = viewer.cli("summary", "--json", asked.files[0]);
  assert.equal(await first.textContent(), findings[0].message);
  const back = () => viewer.panel("overview");
  if (slow.some(({ is_slow: isSlow }) => isSlow)) {
    await page.getByLabel("Slow", { exact: true }).locator("button").first().click();
    await viewer.linkIs("the slow span is selected", ({ place }) => place);
    await page.locator("#panel .way b").filter({ hasText: slow[0].name }).waitFor();
    await back();
  }
  if (memory) {
    await page.getByLabel("Never freed").locator("button").first().click();
    await viewer.linkIs("leaks are shown", ({ panel }) => panel === "memory");
    await back();
  }
  if (logs?.first_errors.length > 0) {
    await page.getByLabel("Log", { exact: true }).locator("li").nth(1).locator("button").click();
    await viewer.linkIs("the error is shown", ({ panel }) => panel === "log");
  }
}

/// Two traces side by side: the rows of `diff`, and one click to each name.
async function changes(viewer) {
  const { page, asked } = viewer;
  const panel = await viewer.panel("changes");
  await panel.locator(".changes[data-compared]").waitFor();
  const { rows } = viewer.cli("diff", "--all", "--limit", "2000", "--json", ...asked.files);
  assert.ok(rows.length > 3);
  const shown = await viewer.rowsAre("rows are there", (shown) => shown.length > 3);
  shown.forEach((row, at) => {
    const { name, line, after } = rows[at];
    assert.equal(row.Name, line ? `${name}:${line}` : name);
    if (after) shows(row.After, after.value_ns ?? after.value_bytes, name);
  });
  const { name } = rows.find(({ before, after }) => before && after);
  await panel.getByRole("row").filter({ hasText: name }).first().click();
  await viewer.linkIs("its name is selected", (link) => link.name === name);
  await panel.getByRole("button", { name: "Swap" }).click();
  await viewer.linkIs(
    "the other way around",
    ({ panels }) => panels.changes?.before === 1 && panels.changes.after === 0,
  );
  await page.locator(".changes[data-compared]").waitFor();
  await panel.getByRole("button", { name: "Flame graph" }).click();
  await page.locator('.flamebody[data-shows="time top compared"]').waitFor();
  await page.locator(".flame").press("ArrowDown");
  await page.locator(".card dt").filter({ hasText: "before" }).waitFor();
  await viewer.panel("histogram");
  await page.locator(".figures .trace").nth(1).waitFor();
  const calls = (await page.locator(".figures .trace").allTextContents()).map((text) =>
    Number(text.match(/[\d,]+$/)[0].replaceAll(",", "")),
  );
  const counted = asked.files.map((file) => viewer.cli("stats", "--name", name, "--json", file).spans[0].calls);
  assert.deepEqual(calls, counted);
}

/// Traces can be aligned at the frame of the same number, or at one span of each; Back undoes it.
async function aligned(viewer, browser) {
  const { asked, page } = viewer;
  const starts = asked.files.map((file) =>
    viewer.query("select ts_ns from spans where name = 'Frame' order by ts_ns", [file]).map(({ ts_ns }) => ts_ns),
  );
  const { tracks } = await viewer.state();
  const traceOf = ({ place }) => place && tracks[place.track].trace;
  await viewer.selectName("Frame");
  /// The next frame of any trace.
  const next = async () => {
    const known = JSON.stringify((await viewer.link()).place);
    await viewer.focus();
    await viewer.press("n");
    return viewer.linkIs("the next frame is selected", ({ place }) => place && JSON.stringify(place) !== known);
  };
  await next();
  await next();
  const { place, offsets: before } = await next();
  const [own, other] = [traceOf({ place }), 1 - traceOf({ place })];
  // The lane contains only frames.
  const at = starts[own][place.index] + before[own];
  await viewer.press("o");
  await viewer.linkIs(
    "both frames start together",
    ({ offsets }) => offsets[own] === before[own] && offsets[other] === at - starts[other][place.index],
  );
  await page
    .getByRole("status")
    .filter({ hasText: `Frame number ${place.index + 1} starts here` })
    .waitFor();
  const link = page.url();
  await viewer.press("u");
  await viewer.linkIs("it is undone", ({ offsets }) => offsets.join() === before.join());
  await page.getByRole("button", { name: "Hold" }).click();
  const withHeld = page.getByRole("button", { name: "Align with Frame" });
  for (let step = 0; step < 200 && (await withHeld.count()) === 0; step++) {
    await next();
    await page.locator("#panel .way b").filter({ hasText: "Frame" }).waitFor();
  }
  const chosen = await viewer.link();
  assert.equal(traceOf(chosen), other);
  const held = starts[own][place.index] + chosen.offsets[own];
  await viewer.press("Control+k");
  await page.getByRole("combobox", { name: "Command" }).fill("hold the selected span");
  await viewer.press("Enter");
  const wanted = held - starts[other][chosen.place.index];
  await viewer.linkIs("the chosen frames start together", ({ offsets }) => offsets[other] === wanted);
  assert.equal(await withHeld.count(), 0, "nothing is held anymore");
  const reopened = await Viewer.open(browser, link, asked);
  await reopened.linkIs("a link moves them again", ({ offsets }) => offsets[other] === at - starts[other][place.index]);
  await reopened.context.close();
}

/// A selected span and its contents keep their color; the same names elsewhere are weaker.
async function strength(viewer) {
  await viewer.selectName("Frame");
  const frame = await viewer.span((await viewer.link()).place);
  const [update, other] = viewer.query(`select ts_ns + dur_ns * 9 / 10 as at from spans
    where name = 'Update' and dur_ns > 0 and ts_ns >= ${frame.ts_ns} order by ts_ns limit 2`);
  await viewer.press("f", "s", "s", "s", "s", "s", "s", "s", "s", "s");
  await until(
    "the view rests, with two frames in it",
    async () => {
      const before = await viewer.link();
      await viewer.page.waitForTimeout(300);
      const { from, to } = await viewer.link();
      return from === before.from && to === before.to && to > other.at;
    },
    Boolean,
  );
  const color = async ({ at }) => {
    await viewer.isDrawn();
    await viewer.point("Update", at);
    const [[x, y], box] = [viewer.pointer, await viewer.page.locator("#picture").boundingBox()];
    // The pointer outlines the bar under it.
    await viewer.page.mouse.move(box.x + 5, box.y + 5);
    const read = (canvas, [x, y]) => canvas.getContext("2d").getImageData(x, y, 1, 1).data.join();
    await viewer.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    return viewer.page.locator("#picture").evaluate(read, [Math.round(x - box.x), Math.round(y - box.y)]);
  };
  const chosen = [await color(update), await color(other)];
  await viewer.focus();
  await viewer.press("Escape");
  await viewer.linkIs("nothing is selected", ({ name }) => name === null);
  const plain = [await color(update), await color(other)];
  assert.equal(chosen[0], plain[0], "a child of the selected span");
  assert.notEqual(chosen[1], plain[1], "a child of another span");
}

/// Enters a query and runs it; its answer differs from the one before, which stays until then.
async function ask(viewer, sql) {
  const panel = await viewer.panel("sql");
  const before = (await panel.locator("table").count()) > 0 ? JSON.stringify(await viewer.rows()) : "";
  await panel.getByRole("textbox", { name: "SQL query" }).fill(sql);
  await viewer.press("Control+Enter");
  await viewer.rowsAre("the query is answered", (rows) => rows.length > 0 && JSON.stringify(rows) !== before);
  return panel;
}

/// The panel opens with the answer to its first example; nothing is typed or clicked.
async function example(viewer) {
  const { page } = viewer;
  const asked = [];
  page.on("request", (request) => /\/api\/sql(\?|$)/.test(request.url()) && asked.push(request.url()));
  const panel = await viewer.panel("sql");
  const answered = panel.getByText(/^\d+ rows? in [\d.,]+ (µs|ms|s)$/);
  await answered.waitFor();
  const sql = await panel.getByRole("textbox", { name: "SQL query" }).inputValue();
  const examples = panel.getByRole("combobox", { name: "Examples" }).locator("option");
  assert.ok(/^select /.test(sql), `the query is there: ${sql}`);
  assert.equal(sql, await examples.nth(1).getAttribute("value"), "the first example");
  const expected = viewer.query(sql);
  const status = await answered.textContent();
  assert.equal(Number.parseInt(status, 10), expected.length, status);
  const [first] = await viewer.rowsAre("the rows are there", (rows) => rows.length > 0);
  assert.ok(!Object.values(first).includes("NULL"), "rows without a value are not the first");
  await numbersAreReadable(viewer);
  // The page shows integers with separators, and every NULL.
  const plain = (row) => Object.values(row).map((value) => `${value}`.replaceAll(",", ""));
  assert.deepEqual(Object.keys(first), Object.keys(expected[0]));
  assert.deepEqual(plain(first), plain(expected[0]));
  // Another panel and back: the answer stays, and is not asked for again.
  await viewer.panel("overview");
  await viewer.panel("sql");
  assert.deepEqual((await viewer.rowsAre("the rows are still there", (rows) => rows.length > 0))[0], first);
  assert.equal(asked.length, 1, asked.join("\n"));
  const numbers = "select 1234567 as dur_ns, 7654321 as span_id, 98765 as bytes, 9876 as calls";
  await ask(viewer, numbers);
  assert.deepEqual(await viewer.rows(), [{ dur_ns: "1,234,567", span_id: "7654321", bytes: "98,765", calls: "9876" }]);
  await numbersAreReadable(viewer);
}

/// Large integers have separators unless they are ids; the tip of a time in nanoseconds has a suitable unit.
async function numbersAreReadable(viewer) {
  const [titles, ...rows] = await viewer.page
    .locator("#panel table")
    .evaluate((table) =>
      [...table.querySelectorAll("thead tr, tr[data-at]")].map((row) =>
        [...row.cells].map((cell) => [cell.textContent, cell.title]),
      ),
    );
  assert.ok(rows.length > 0, "there are rows");
  for (const [at, [text, tip]] of rows.flatMap((row) => [...row.entries()])) {
    if (!/^-?[\d,]+$/.test(text)) continue;
    const [column] = titles[at];
    const value = Number(text.replaceAll(",", ""));
    const isGrouped = Math.abs(value) >= 10_000 && !/(^|_)id$/.test(column);
    assert.equal(text, isGrouped ? value.toLocaleString("en-US") : `${value}`, column);
    if (!column.endsWith("_ns")) continue;
    assert.match(tip, / (ns|µs|ms|s|min|h|d)$/, `the tip of ${column}`);
    shows(tip, value, `the tip of ${column}`);
  }
}

/// Results become tracks and charts, which a link restores.
async function queried(viewer, browser) {
  const { page, asked } = viewer;
  const spans = "select name, ts_ns, dur_ns from spans where name = 'Physics' order by ts_ns";
  const panel = await ask(viewer, spans);
  await panel.getByRole("button", { name: "Add track" }).click();
  const label = page.locator(".label.queried");
  await label.filter({ hasText: "Physics" }).waitFor();
  const [first] = viewer.query(spans);
  await viewer.focus();
  await viewer.press("0");
  await viewer.point("row", first.ts_ns + first.dur_ns / 2);
  await page.locator("#hover").filter({ hasText: "Physics" }).waitFor();
  await page.mouse.click(...viewer.pointer);
  await viewer.linkIs("the span is selected", ({ name, place }) => name === "Physics" && place);

  await ask(viewer, "select bucket(ts_ns, '100ms') as ts_ns, count(*) as spans from spans group by 1 order by 1");
  await panel.getByRole("button", { name: "Add track" }).click();
  await until(
    "values are a track too",
    () => label.count(),
    (count) => count === 2,
  );
  await viewer.choose("chart");
  await panel.getByRole("img", { name: /^spans over ts_ns: \d+ values/ }).waitFor();

  const totals =
    "select name, count(*) as calls, sum(dur_ns) as total_ns from spans group by name order by 3 desc limit 5";
  await viewer.choose("table");
  await ask(viewer, totals);
  await viewer.choose("chart");
  await panel.getByRole("combobox", { name: "Value" }).selectOption("total_ns");
  const bars = (within) =>
    within
      .locator(".bars li")
      .evaluateAll((items) => items.map((item) => [...item.children].map((part) => part.textContent)));
  const rows = viewer.query(totals);
  const isRight = (shown) => shown.length === 5 && shown.every(([name], at) => name === rows[at].name);
  for (const [at, [, , amount]] of (await until("bars are there", () => bars(panel), isRight)).entries())
    shows(amount, rows[at].total_ns, rows[at].name);
  await viewer.linkIs(
    "the link keeps it",
    ({ panels }) => panels.sql.value === "total_ns" && panels.queried.tracks.length === 2,
  );

  const reopened = await Viewer.open(browser, page.url(), asked);
  await until("the chart is there again", () => bars(reopened.page.locator("#panel")), isRight);
  const labels = reopened.page.locator(".label.queried");
  await until(
    "the tracks are there again",
    () => labels.count(),
    (count) => count === 2,
  );
  await labels.first().getByRole("button", { name: "Remove" }).click();
  await until(
    "a track can be removed",
    () => labels.count(),
    (count) => count === 1,
  );
  assert.deepEqual(reopened.complaints, []);
  await reopened.context.close();
}

/// A note is added by a key, appears in the panel, and persists.
async function notes(viewer) {
  const { page, asked } = viewer;
  assert.ok(!(await viewer.tabs()).includes("notes"), "without notes there is no panel");
  await viewer.selectName("Physics");
  await page.locator("#panel .way b").filter({ hasText: "Physics" }).waitFor();
  await viewer.press("m");
  await page.getByRole("dialog").getByRole("textbox", { name: "Note" }).fill("why so long?");
  await viewer.press("Enter");
  const panel = await viewer.panel("notes");
  await panel.getByText("why so long?").waitFor();
  const stored = JSON.parse(fs.readFileSync(`${asked.files[0]}.notes.json`, "utf8")).notes;
  assert.deepEqual([stored.length, stored[0].name], [1, "Physics"]);
  await panel.getByRole("button", { name: "Delete" }).click();
  await until(
    "the file goes with the last note",
    () => fs.existsSync(`${asked.files[0]}.notes.json`),
    (is) => !is,
  );
}

await test((viewer, { more }, browser) =>
  ({
    overview,
    notes,
    changes,
    aligned,
    example,
    queried,
    strength,
    span,
    flows,
    caller,
    logs,
    memory,
    growth,
    commands,
  })[more.check](viewer, browser),
);
