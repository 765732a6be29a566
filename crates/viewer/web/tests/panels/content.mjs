// Panels with the contents of a trace: log, source, memory, SQL and findings.

import assert from "node:assert/strict";
import { isShown, shows, until } from "../viewer.mjs";

const withCommas = (number) => number.toLocaleString("en-US");

/// The visible lines of the log: level, text.
const loglines = (viewer) =>
  viewer.page.locator("#panel .logline").evaluateAll((lines) =>
    lines
      .filter((line) => line.querySelector(".text"))
      .sort((one, other) => Number(one.dataset.line) - Number(other.dataset.line))
      .map((line) => [
        Number(line.dataset.line),
        line.querySelector(".level").textContent,
        line.querySelector(".text").textContent,
      ]),
  );

/// The same number of lines, levels and texts as in the output of the program, with the same filters.
export async function log(viewer) {
  const { page, asked } = viewer;
  const printed = (...words) =>
    viewer
      .print("log", "--json", ...words, ...asked.files)
      .trim()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  const compare = async (what, expected) => {
    const all = printed().length;
    const counted =
      expected.length === all
        ? `${withCommas(all)} lines`
        : `${withCommas(expected.length)} of ${withCommas(all)} lines`;
    await page.locator("#panel").getByRole("status").filter({ hasText: counted }).waitFor();
    const isRight = (lines) =>
      lines.length > 0 &&
      lines.every(([at, level, text]) => expected[at]?.level === level && expected[at].message === text);
    await until(
      what,
      () => loglines(viewer),
      (lines) => (expected.length === 0 ? lines.length === 0 : isRight(lines)),
    );
  };
  const all = printed();
  await compare("the lines are those of the program", all);
  const levels = new Map();
  for (const { level } of all) levels.set(level, (levels.get(level) ?? 0) + 1);
  for (const [level, lines] of levels)
    await page
      .locator("#panel .chip")
      .filter({ hasText: `${level} ${withCommas(lines)}` })
      .waitFor();
  const [level] = [...levels.keys()].sort((one, other) => levels.get(one) - levels.get(other));
  const chip = page.locator("#panel .chip").filter({ hasText: level });
  await chip.click();
  await compare("one level only", printed("--level", level));
  await chip.click();
  const word = all[0].message.split(" ").at(-1);
  await page.getByLabel("Text in the log").fill(word);
  await compare(
    "a text only",
    all.filter(({ message }) => message.toLowerCase().includes(word.toLowerCase())),
  );
  await page.getByLabel("Regular expression").click();
  await page.getByLabel("Text in the log").fill("^[a-z]+ .*\\d$");
  await compare("a regular expression", printed("--grep", "(?i)^[a-z]+ .*\\d$"));
  await page.getByLabel("Text in the log").fill("(");
  await page.locator("#panel .error").filter({ hasText: /./ }).waitFor();
  await page.getByLabel("Regular expression").click();
  await page.getByLabel("Text in the log").fill("");
  await compare("all again", all);
  await logIsWalked(viewer);
}

async function logIsWalked(viewer) {
  const { page } = viewer;
  const lines = page.locator("#panel .lines");
  await lines.focus();
  await viewer.press("End");
  const last = page.locator('#panel .logline[aria-selected="true"] .text');
  const [, , text] = (
    await until(
      "the last line is there",
      () => loglines(viewer),
      (shown) => shown.length > 0,
    )
  ).at(-1);
  await until(
    "End goes to the last line",
    () => last.textContent(),
    (shown) => shown === text,
  );
  await page.locator("#panel .aside").filter({ hasText: text }).waitFor();
  const [{ ts_ns: ts }] = viewer.query("select ts_ns from logs order by ts_ns desc limit 1");
  await viewer.press("Enter");
  if (ts !== null) await viewer.linkIs("Enter shows its time", ({ from, to }) => from <= ts && ts <= to);
}

/// Files, lines and subs with their costs.
export async function source(viewer) {
  const { page, asked } = viewer;
  const isProfile = /nytprof/.test(viewer.cli("info", "--json", asked.files[0]).format);
  const list = page.locator("#panel .list");
  await viewer.rowsAre("the files are listed", (rows) => rows.length > 0, list);
  const files = await viewer.csv(list);
  if (!isProfile) return placesAreListed(viewer, files);
  const profile = viewer.cli("lines", "--json", asked.files[0]);
  const short = (name) => (name.length > 40 ? `…${name.slice(-39)}` : name);
  const own = new Map(profile.files.map((file) => [short(file.name), file]));
  assert.equal(files.length, profile.files.length, "files");
  for (const file of files) {
    const expected = own.get(file.file) ?? assert.fail(`${file.file} is no file of the program`);
    assert.deepEqual([Number(file.time_ns), Number(file.stmts)], [expected.time_ns, expected.statements], file.file);
  }
  for (const [at, { name, lines }] of profile.files.entries()) {
    await list
      .locator("tbody tr[data-at]")
      .filter({ hasText: short(name) })
      .first()
      .click();
    await page.locator(`#panel .path[title="${name}"]`).waitFor();
    if (at < 3) await linesAreShown(viewer, name, lines, profile.files[at].source ?? []);
  }
  await viewer.choose("subs");
  const subs = viewer.cli("lines", "--json", "--subs", asked.files[0]).subs;
  await viewer.rowsAre("the subs are listed", (rows) => rows[0]?.sub !== undefined, list);
  const saved = await viewer.csv(list);
  const sort = (rows) => rows.map((row) => JSON.stringify(row)).sort();
  const called = subs.map((sub) => [sub.name, sub.excl_ns, sub.incl_ns, sub.calls]);
  assert.deepEqual(
    sort(saved.map((row) => [row.sub, Number(row.self_ns), Number(row.total_ns), Number(row.calls)])),
    sort(called),
    "subs",
  );
  await list.locator("tbody tr[data-at]").first().click();
  const [first] = await viewer.rows(list);
  await page.locator("#panel .aside h2").filter({ hasText: first.sub }).first().waitFor();
}

async function linesAreShown(viewer, name, lines, text) {
  const shown = () =>
    viewer.page
      .locator("#panel .codeline:not(.head):not(.gap)")
      .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
  const known = new Map(lines.map((line) => [line.line, line]));
  const written = new Map(text);
  const isRight = (rows) =>
    rows.length > 0 &&
    rows.every(([number, statements, time, , , code]) => {
      const line = known.get(Number(number));
      const isCounted = line
        ? isShown(statements, line.statements) && isShown(time, line.excl_ns)
        : statements === "" && time === "";
      return isCounted && code.includes((written.get(Number(number)) ?? "").trim());
    });
  await until(`the lines of ${name} are those of the program`, shown, isRight);
}

/// Places that occur in rows, if there is no source.
async function placesAreListed(viewer, files) {
  const places = viewer.query(
    "select count(*) n from (select file from spans union all select file from logs) where file is not null",
  )[0].n;
  const sum = files.reduce((sum, file) => sum + Number(file.count), 0);
  assert.ok(sum >= places, `${sum} rows with a place, at least ${places} expected`);
  const main = viewer.page.locator("#panel .main");
  const [row] = await viewer.rowsAre("the places of a file are listed", (rows) => rows.length > 0, main);
  const file = await main.locator(".path").getAttribute("title");
  const [{ self_ns: self = 0 }] = viewer.query(`select sum(self_ns) as self_ns from spans where file = '${file}'`);
  assert.equal(row.self !== undefined, self > 0, `self time of ${file}`);
  const saved = (await viewer.csv(main)).map((place) => Number(place.self_ns ?? 0));
  const inAll = saved.reduce((sum, ns) => sum + ns, 0);
  assert.equal(inAll, self, `self time of ${file}`);
  if (self > 0) shows(row.self, saved[0], `self time of ${row.what}`);
}

/// Peak, leaks and all the sums.
export async function memory(viewer) {
  const { page, asked } = viewer;
  const expected = viewer.cli("memory", "--json", "--limit", "1000", ...asked.files);
  const figures = await until(
    "the figures are there",
    () => viewer.facts("#panel dl"),
    ({ allocated }) => allocated,
  );
  shows(figures.allocated, expected.allocated_bytes, "allocated");
  shows(figures.peak, expected.peak.bytes, "peak");
  shows(figures["never freed"], expected.live_bytes, "never freed");
  shows(figures.churn.replace("/s", ""), expected.churn_bytes_per_second, "churn");
  shows(figures.temporary, expected.temporary, "temporary");
  shows(figures.collections, expected.collections, "collections");
  const curve = await page.locator("#panel .curve canvas").boundingBox();
  assert.ok(curve.width > 300 && curve.height >= 70, `the curve has room: ${JSON.stringify(curve)}`);
  const bytes = async (list, column) => {
    await viewer.choose(list);
    const rows = await viewer.csv();
    return rows.map((row) => [Number(row[column]), Number(row.count)]).sort((one, other) => other[0] - one[0]);
  };
  const sites = (rows) => rows.sort((one, other) => other[0] - one[0]);
  assert.deepEqual(
    await bytes("peak", "alive"),
    sites(expected.peak.sites.map((site) => [site.bytes, site.count])),
    "at the peak",
  );
  const leaks = expected.sites.filter((site) => site.live > 0);
  assert.deepEqual(
    await bytes("leaks", "never freed"),
    sites(leaks.map((site) => [site.live_bytes, site.live])),
    "never freed",
  );
  assert.deepEqual(
    await bytes("hot", "bytes"),
    sites(expected.sites.map((site) => [site.bytes, site.count])),
    "most bytes",
  );
  await growthIsSorted(viewer, expected.sites);
  const texts = await viewer.svg("memory.svg");
  const peak = texts?.find((text) => text.startsWith("peak ")) ?? assert.fail(`no peak in the picture: ${texts}`);
  shows(peak.replace("peak ", ""), expected.peak.bytes, "peak in the picture");
  await viewer.choose("leaks");
  await page.locator("#panel tbody tr[data-at]").first().click();
  const [innermost] = leaks.sort((one, other) => other.live_bytes - one.live_bytes)[0].stack;
  await page.locator("#panel .aside .stack li").first().filter({ hasText: innermost.function }).waitFor();
}

/// Sites by the slope of their quarters, of which those that grow in each quarter are marked; returns the rows.
export async function growthIsSorted(viewer, sites) {
  await viewer.choose("growth");
  const saved = await viewer.csv();
  const quarters = (row) => [1, 2, 3, 4].map((quarter) => Number(row[`quarter_${quarter}`]));
  const sorted = (rows) => rows.map((row) => JSON.stringify(row)).sort();
  // Of very many sites, the page lists those with the most bytes.
  const largest = sites.slice(0, saved.length).map((site) => site.quarters_bytes);
  assert.deepEqual(sorted(saved.map(quarters)), sorted(largest), "quarters");
  // The slope of the line through four points, times ten.
  const slopes = saved.map(quarters).map(([first, second, third, fourth]) => 3 * (fourth - first) + third - second);
  assert.deepEqual(
    slopes,
    [...slopes].sort((one, other) => other - one),
    "the steepest comes first",
  );
  const grows = (parts) => parts.every((bytes, at) => bytes > 0 && bytes >= (parts[at - 1] ?? 0));
  for (const row of saved) assert.equal(row.grows, grows(quarters(row)) ? "in each quarter" : "", row.site);
  for (const [at, row] of (await viewer.rows()).entries())
    assert.deepEqual([row.site, row.grows], [saved[at].site, saved[at].grows], `row ${at}`);
  const byBytes = [...saved].sort((one, other) => Number(other.bytes) - Number(one.bytes));
  assert.notDeepEqual(saved, byBytes, "the order by bytes is another one");
  return saved;
}

/// A query, its rows, their links, and an invalid query.
export async function sql(viewer) {
  const { page } = viewer;
  const box = page.getByLabel("SQL query");
  const ask = async (text) => {
    await box.fill(text);
    await box.press("Control+Enter");
  };
  const question =
    'select "table_name" as name, count(*) as n from information_schema.columns group by 1 order by n desc, 1 limit 12';
  const spans =
    "select trace_id, thread_id, id, name, ts_ns, dur_ns from spans where dur_ns > 0 order by dur_ns desc, ts_ns limit 20";
  const hasSpans = viewer.query("select count(*) n from spans where dur_ns > 0")[0].n > 0;
  for (const text of hasSpans ? [question, spans] : [question]) {
    const expected =
      viewer
        .print("query", "--format", "csv", ...viewer.asked.files, text)
        .trim()
        .split("\n").length - 1;
    await ask(text);
    await page
      .locator("#panel")
      .getByRole("status")
      .filter({ hasText: `${expected} rows` })
      .waitFor();
    const rows = viewer.query(text);
    const saved = await until(
      "the rows are those of the question",
      () => viewer.csv(),
      ([first]) => first && Object.keys(first).join() === Object.keys(rows[0]).join(),
    );
    const cells = (row) => Object.values(row).map(String);
    // Numbers in the program's JSON may exceed the precision of JavaScript, but names and times do not.
    const kept = (row) => cells({ ...row, trace_id: "" });
    assert.deepEqual(saved.map(kept), rows.map(kept), text);
  }
  if (hasSpans) {
    const [first] = viewer.query(spans);
    await page.locator("#panel tbody tr[data-at]").first().click();
    await viewer.linkIs(
      "a row shows its span",
      ({ name, from, to }) => name === first.name && from <= first.ts_ns && to >= first.ts_ns + first.dur_ns,
    );
  }
  await ask("select nme from threads");
  await page.locator("#panel .error").filter({ hasText: "nme" }).waitFor();
  await page.locator("#panel").getByRole("button", { name: "name", exact: true }).click();
  await page
    .locator("#panel")
    .getByRole("status")
    .filter({ hasText: /\d rows? / })
    .waitFor();
}

/// Problems and advice.
export async function findings(viewer) {
  const { page, asked } = viewer;
  const counts = viewer.cli("check", "--json", asked.files[0]).finding_counts;
  const wrong = page.getByLabel("Problems in the file");
  if (Object.keys(counts).length === 0) await wrong.getByText("No problems found.").waitFor();
  for (const [code, times] of Object.entries(counts)) {
    const card = wrong.locator("article").filter({ has: page.locator("header code", { hasText: code }) });
    await card.waitFor();
    if (times > 1) await card.getByText(`${withCommas(times)} times`).waitFor();
  }
  const { advice } = viewer.cli("advise", "--json", asked.files[0]);
  const rules = () => page.getByLabel("Worth a look").locator("article header code").allTextContents();
  await until(
    "the advice is that of the program",
    rules,
    (shown) =>
      shown.sort().join() ===
      advice
        .map(({ rule }) => rule)
        .sort()
        .join(),
  );
}

/// The open traces, before anything is selected.
export async function selection(viewer) {
  const [rows] = viewer.query(
    "select (select count(*) from spans) spans, (select count(*) from events) events, (select count(*) from logs) logs",
  );
  const facts = await until(
    "the overview is there",
    () => viewer.facts("#panel dl"),
    (facts) => Object.keys(facts).length > 0,
  );
  const [text] = Object.values(facts);
  for (const [what, label] of [
    ["spans", "spans"],
    ["events", "events"],
    ["logs", "log lines"],
  ]) {
    const isTold = text.includes(`${withCommas(rows[what])} ${label}`);
    assert.ok(isTold || rows[what] === 0, `${text}: ${rows[what]} ${label} expected`);
  }
}

/// The overview, as in `summary`.
export async function overview(viewer) {
  const { page, asked } = viewer;
  const summary = viewer.cli("summary", "--json", asked.files[0]);
  await page.locator("#panel .overview[data-traces]").waitFor();
  const items = (title) => page.getByLabel(title, { exact: true }).locator("li").allTextContents();
  const found = await items("Worth a look");
  assert.equal(found.length, Math.min(6, summary.findings.length));
  summary.findings.slice(0, 6).forEach(({ message }, at) => assert.ok(found[at].includes(message), message));
  const names = await items("Most self time");
  summary.names.slice(0, 6).forEach(({ name }, at) => assert.ok(names[at].endsWith(name), name));
  if (summary.all_names > 6) assert.equal(names[6], `and ${withCommas(summary.all_names - 6)} more`);
  const slow = [...(await items("Slow")), ...(await items("Longest"))];
  assert.equal(slow.length, Math.min(6, summary.slow.length));
  const leaks = await items("Never freed");
  assert.equal(leaks.length, Math.min(6, summary.memory?.leaks.length ?? 0));
}
