// A store in the page: its list, its trends and builds, and the way to a trace and back.

import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { main, until } from "../../../testkit/browser/browser.mjs";
import { shows, Viewer } from "./viewer.mjs";

const axe = createRequire(path.join(process.env.TRACELOOM_MODULES, "package.json")).resolve("axe-core/axe.min.js");
const rows = (viewer) => viewer.page.locator("#panel .storeline[data-trace]");

/// The paths of the rows in sight, in order.
const files = (viewer) =>
  rows(viewer).evaluateAll((lines) =>
    lines
      .sort((one, other) => one.dataset.line - other.dataset.line)
      .map((line) => line.querySelector("a, [title] > span").parentElement.title),
  );

/// Waits until so many traces are listed.
const listed = (viewer, number) => viewer.page.locator(`#panel .storelist[data-listed="${number}"]`).waitFor();

async function violations(viewer) {
  await viewer.page.evaluate(fs.readFileSync(axe, "utf8"));
  const found = await viewer.page.evaluate(async () => {
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];
    const rules = { "label-content-name-mismatch": { enabled: true } };
    return (await window.axe.run(document, { runOnly: tags, rules })).violations;
  });
  return found.flatMap(({ id, nodes }) => nodes.map(({ target, html }) => `${id}: ${target.join(" ")} ${html}`));
}

/// The list says what SQL says, and filters by text, tag and state.
async function listIsFiltered(viewer, [store]) {
  const [{ traces }] = viewer.query("select count(*) as traces from ingested", [store]);
  const [{ broken }] = viewer.query("select count(*) as broken from quarantine", [store]);
  await listed(viewer, traces + broken);
  const host = viewer.page.getByLabel("Host", { exact: true });
  await host.selectOption("host1");
  const [{ own }] = viewer.query("select count(*) as own from ingested where host = 'host1'", [store]);
  await listed(viewer, own);
  await viewer.page.getByLabel("Text in path or tags").fill("B7 prof");
  await listed(viewer, 2);
  assert.ok((await files(viewer)).every((file) => /host1.b7/.test(file)));
  await viewer.linkIs("the filter is in the link", ({ panels }) => panels.stored?.text === "B7 prof");
  await viewer.page.getByLabel("Text in path or tags").fill("");
  await host.selectOption("");
  await viewer.page.getByLabel("State").selectOption("quarantined");
  await listed(viewer, broken);
  const [{ path: lost, finding }] = viewer.query("select path, finding from quarantine", [store]);
  assert.deepEqual(await files(viewer), [lost]);
  await rows(viewer).first().click();
  await viewer.page.locator(".aside .refusal").filter({ hasText: finding }).waitFor();
  await viewer.page.getByLabel("State").selectOption("all");
  await listed(viewer, traces + broken);
  await viewer.page.getByRole("button", { name: "File" }).click();
  const sorted = viewer.query(
    "select path from (select path from ingested union all select path from quarantine) order by path limit 5",
    [store],
  );
  await until(
    "the list is sorted",
    () => files(viewer),
    (found) => JSON.stringify(found.slice(0, 5)) === JSON.stringify(sorted.map((row) => row.path)),
  );
}

/// By click, by Enter, by link; Back leads to the list as it was.
async function traceIsOpened(viewer, browser, [store]) {
  await viewer.page.getByLabel("Build", { exact: true }).selectOption("b9");
  await listed(viewer, 4);
  await viewer.linkIs("the build is in the link", ({ panels }) => panels.stored?.tags.build === "b9");
  const [first] = await files(viewer);
  await rows(viewer).first().getByRole("link").click();
  await viewer.page.waitForURL(/[?&]trace=\d+/);
  await viewer.isDrawn();
  await viewer.page
    .locator("#traces")
    .filter({ hasText: path.basename(first) })
    .waitFor();
  await viewer.panel("stats");
  const [{ spans }] = viewer.query(`select sum(calls) as spans from sums where trace_id = ${traceOf(viewer)}`, [store]);
  const counted = (await viewer.csv()).reduce((sum, row) => sum + Number(row.Calls), 0);
  assert.equal(counted, spans, "the figures are those of the store");
  const other = await Viewer.open(browser, viewer.page.url(), viewer.asked);
  await other.page.locator("#tabs [data-panel=stats][aria-selected=true]").waitFor();
  await other.page.locator("#back").click();
  await other.page.locator("#panel .storelist").waitFor();
  await other.context.close();
  await viewer.page.locator("#back").click();
  await listed(viewer, 4);
  await viewer.page.getByRole("grid", { name: "Traces" }).focus();
  await viewer.press("ArrowDown", "ArrowDown");
  await viewer.page.locator(".aside").getByRole("button", { name: "Open" }).waitFor();
  await viewer.press("Enter");
  await viewer.page.waitForURL(/[?&]trace=\d+/);
  await viewer.isDrawn();
  await viewer.page.goBack();
  await listed(viewer, 4);
  assert.deepEqual((await files(viewer))[0], first, "the list is as it was");
  const again = await Viewer.open(browser, viewer.page.url(), viewer.asked, { isEmpty: true });
  await listed(again, 4);
  assert.deepEqual(again.complaints, []);
  await again.context.close();
}

const traceOf = (viewer) => new URL(viewer.page.url()).searchParams.get("trace");

/// A trace whose source has changed says so, and the list stays.
async function changedSourceIsRefused(viewer, { more: { changed } }) {
  await viewer.page.getByLabel("Build", { exact: true }).selectOption("");
  await viewer.page.getByLabel("Text in path or tags").fill(changed);
  await listed(viewer, 1);
  await rows(viewer).first().getByRole("link").click();
  await viewer.page.locator("#panel [role=alert]").filter({ hasText: "has changed since" }).waitFor();
  await viewer.excuse("POST", "api/store/open", 422);
  await viewer.page.getByLabel("Text in path or tags").fill("");
}

/// The line of exactly this name.
const nameLine = (viewer, name) =>
  viewer.page.locator(".nameline").filter({ has: viewer.page.getByText(name, { exact: true }) });

/// The names that changed come first, and every figure is that of `traceloom trend`.
async function trendIsThatOfTheVerb(viewer, [store]) {
  await viewer.panel("trend");
  await viewer.page.locator('#panel .trend[data-shown="Render"]').waitFor();
  const found = "select count(distinct name) as names from sums where lower(name) like '%upd%'";
  const [{ names }] = viewer.query(found, [store]);
  await viewer.page.getByLabel("Name", { exact: true }).fill("upd");
  await viewer.page.locator(`#panel .trend[data-names="${names}"]`).waitFor();
  await nameLine(viewer, "Update").click();
  await viewer.page.locator('#panel .trend[data-shown="Update"]').waitFor();
  await viewer.page.goto(viewer.page.url());
  await viewer.page.reload();
  await viewer.page.locator('#panel .trend[data-shown="Update"]').waitFor();
  await viewer.page.getByLabel("Name", { exact: true }).fill("");
  await nameLine(viewer, "Render").click();
  await viewer.page.locator('#panel .trend[data-shown="Render"]').waitFor();
  for (const metric of ["p95", "p50"]) {
    await viewer.choose(metric);
    const { names } = viewer.cli("trend", "--json", "--metric", metric, store, "Render");
    const asked = await viewer.ask("store/trend", { name: "Render", metric });
    assert.deepEqual(asked.names, names);
    const shown = await viewer.rowsAre(`${metric} is shown`, (found) => found.length === names[0].points.length);
    names[0].points.forEach((point, at) => {
      const row = shown[at];
      assert.deepEqual([row.Day, row.Build, row.Traces], [point.day, point.build, String(point.traces)]);
      for (const [title, key] of Object.entries({ p50: "p50_ns", p95: "p95_ns", p99: "p99_ns" })) {
        shows(row[title], point[key], `${title} on ${point.day}`);
      }
    });
    assert.equal(await viewer.page.locator(".trendchart line.change.worse").count(), names[0].changes.length);
  }
  assert.equal(await viewer.page.locator(".trendchart polyline.series").count(), 4);
  await viewer.page.locator(".trendchart [data-series=p99]").click();
  await until(
    "a line is hidden",
    () => viewer.page.locator(".trendchart polyline.series").count(),
    (lines) => lines === 3,
  );
  const chart = await viewer.page.locator(".trendchart svg").boundingBox();
  await viewer.page.mouse.move(chart.x + chart.width / 2, chart.y + 80);
  await viewer.page.locator(".trendchart .card dd").first().waitFor();
}

/// The traces of a point, and the names of two builds.
async function pointsAndBuildsLeadOn(viewer, [store]) {
  await viewer.page.locator("#panel tbody tr[data-at]").first().dblclick();
  await listed(viewer, 4);
  await viewer.panel("builds");
  await viewer.page.getByLabel("Before").selectOption("b5");
  await viewer.page.getByLabel("After").selectOption("b6");
  const { rows: expected } = viewer.cli(
    "regressions",
    "--json",
    "--all",
    store,
    "--baseline",
    "b5",
    "--candidate",
    "b6",
  );
  const worse = expected.filter((row) => row.verdict === "worse").map((row) => row.name);
  const found = await viewer.rowsAre(
    "the comparison is there",
    (shown) => shown.length === expected.length && shown.some((row) => row.Verdict === "slower"),
  );
  assert.deepEqual(
    found.filter((row) => row.Verdict === "slower").map((row) => row.Name),
    worse,
  );
  await viewer.page.locator("#panel tbody tr[data-at]").filter({ hasText: worse[0] }).dblclick();
  await viewer.page.locator(`#panel .trend[data-shown="${worse[0]}"]`).waitFor();
}

async function everybodyCanUseIt(browser, asked) {
  for (const colorScheme of ["light", "dark"]) {
    const viewer = await Viewer.open(browser, asked.url, asked, { colorScheme, isEmpty: true });
    await viewer.page.locator("#panel .storelist[data-listed]").waitFor();
    for (const id of await viewer.tabs()) {
      await viewer.panel(id);
      if (id === "trend") await viewer.page.locator("#panel .trend[data-shown]").waitFor();
      const lines = viewer.page.locator("#panel tbody tr[data-at], #panel [data-line]");
      await lines.first().waitFor();
      await lines.first().click({ position: { x: 4, y: 6 } });
      await viewer.page.waitForTimeout(150);
      assert.deepEqual(await violations(viewer), [], `${id}, ${colorScheme}`);
      if (asked.more.pictures) {
        await viewer.page.screenshot({ path: path.join(asked.more.pictures, `${id}-${colorScheme}.png`) });
      }
    }
    assert.deepEqual(viewer.complaints, []);
    await viewer.context.close();
  }
}

await main(async (browser, asked) => {
  const viewer = await Viewer.open(browser, asked.url, asked, { isEmpty: true });
  await listIsFiltered(viewer, asked.files);
  await traceIsOpened(viewer, browser, asked.files);
  await changedSourceIsRefused(viewer, asked);
  await trendIsThatOfTheVerb(viewer, asked.files);
  await pointsAndBuildsLeadOn(viewer, asked.files);
  assert.deepEqual(viewer.complaints, []);
  await everybodyCanUseIt(browser, asked);
});
