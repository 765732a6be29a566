// What is written and painted on the picture itself, which no element of the page shows.

import assert from "node:assert/strict";
import { test, until } from "./viewer.mjs";

/// Notes every text that is drawn from now on.
async function listen(viewer) {
  await viewer.context.addInitScript(() => {
    const draw = CanvasRenderingContext2D.prototype.fillText;
    window.drawn = [];
    CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
      window.drawn.push(text);
      return draw.call(this, text, ...place);
    };
  });
  await viewer.page.reload();
  await viewer.isDrawn();
}

/// Goes to a view, and waits for texts that were drawn since.
async function textsIn(viewer, what, [from, to], isRight) {
  await viewer.page.evaluate(
    ([from, to]) => {
      window.drawn.length = 0;
      const link = JSON.parse(decodeURIComponent(location.hash.slice(1)));
      location.hash = encodeURIComponent(JSON.stringify({ ...link, from, to }));
    },
    [from, to],
  );
  return until(what, () => viewer.page.evaluate(() => [...new Set(window.drawn)]), isRight);
}

/// A label that is too long keeps its start, not the extension that its neighbors have too.
async function labels(viewer) {
  await listen(viewer);
  await viewer.focus();
  await viewer.press("w", "0");
  await viewer.linkIs("there is a view", ({ from }) => from !== undefined);
  const spans = viewer.query("select name, ts_ns, dur_ns from spans where name like '%.lua' order by ts_ns limit 3");
  assert.equal(spans.length, 3, "scripts were run");
  const { width } = await viewer.page.locator("#picture").boundingBox();
  for (const { name, ts_ns, dur_ns } of spans) {
    // Room for a few letters.
    const nanoseconds = Math.round((dur_ns * width) / 44);
    const from = Math.max(0, Math.round(ts_ns - nanoseconds / 2));
    const isShort = (text) => text.endsWith("…") && text.length > 2 && name.startsWith(text.slice(0, -1));
    const texts = await textsIn(viewer, `${name} is shortened`, [from, from + nanoseconds], (texts) =>
      texts.some(isShort),
    );
    assert.ok(!texts.includes("lua"), texts.join());
  }
  // What a person marked is always written out.
  const [{ name, ts_ns }] = viewer.query("select name, ts_ns from events where category = 'bookmark' limit 1");
  const view = [Math.max(0, ts_ns - 1e7), ts_ns + 1e8];
  await textsIn(viewer, `${name} is written`, view, (texts) => texts.includes(name));
}

/// Where a line of pixels of the log's strip differs from the line at its top, which only has the grid; as parts of the width.
async function inked(viewer, down) {
  await viewer.isDrawn();
  const [label, picture] = [viewer.page.locator(".label.logs"), viewer.page.locator("#picture")];
  const [strip, box] = [await label.first().boundingBox(), await picture.boundingBox()];
  return picture.evaluate(
    (canvas, { lines, wide }) => {
      const [empty, line] = lines.map((y) => {
        const { data } = canvas.getContext("2d").getImageData(0, (y * canvas.width) / wide, canvas.width, 1);
        return [...new Uint32Array(data.buffer)];
      });
      return line.flatMap((pixel, x) => (pixel === empty[x] ? [] : [x / line.length]));
    },
    { lines: [1, (down + strip.height) % strip.height].map((y) => Math.round(strip.y - box.y) + y), wide: box.width },
  );
}

/// Few errors among many lines are as few in the picture, and lines that a filter leaves are marked.
async function log(viewer) {
  await viewer.focus();
  const [all] = viewer.query("select min(ts_ns) first, max(ts_ns) last from logs");
  await viewer.press("w", "0");
  const isAll = (link) => link.from <= all.first && link.to >= all.last;
  const { from, to } = await viewer.linkIs("everything is shown", isAll);
  const part = (ns) => (ns - from) / (to - from);
  const [errors] = viewer.query("select min(ts_ns) a, max(ts_ns) b, count(*) n from logs where level_name = 'ERROR'");
  const red = await until(
    "errors are drawn",
    () => inked(viewer, 4),
    (found) => found.length > 0,
  );
  const isNear = (x) => x > part(errors.a) - 0.01 && x < part(errors.b) + 0.01;
  assert.ok(red.every(isNear), "there are errors where none was logged");
  assert.ok(red.length < 0.2 * 1280, `${red.length} pixels for ${errors.n} errors`);
  await viewer.panel("log");
  const search = viewer.page.locator("#panel").getByRole("searchbox").first();
  await search.fill("query failed");
  const [hits] = viewer.query("select min(ts_ns) a, max(ts_ns) b from logs where message like '%query failed%'");
  await until(
    "hits are marked on the track, and nothing else is",
    () => inked(viewer, -2),
    (found) => found.length > 0 && found.every((x) => x > part(hits.a) - 0.01 && x < part(hits.b) + 0.01),
  );
}

const CHECKS = { labels, log };

await test((viewer, { more }) => CHECKS[more.check](viewer));
