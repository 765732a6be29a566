// What is written and painted on the picture itself, which no element of the page shows.

import assert from "node:assert/strict";
import { test, until } from "./viewer.mjs";

/// Notes every text that is drawn from now on, and how far down.
async function listen(viewer) {
  await viewer.context.addInitScript(() => {
    const draw = CanvasRenderingContext2D.prototype.fillText;
    window.drawn = [];
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
      window.drawn.push([text, this.getTransform().transformPoint({ x, y }).y]);
      return draw.call(this, text, x, y, ...rest);
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
  return until(what, () => viewer.page.evaluate(() => [...new Set(window.drawn.map(([text]) => text))]), isRight);
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
}

/// Where a line of pixels of a strip differs from the line at its top, which only has the grid; as parts of the width.
async function inked(viewer, kind, down) {
  await viewer.isDrawn();
  const [label, picture] = [viewer.page.locator(`.label.${kind}`), viewer.page.locator("#picture")];
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

/// What a person marked has a lane, and is written out there however much is shown.
async function bookmarks(viewer) {
  await listen(viewer);
  const marks = viewer.query("select name, ts_ns from events where category = 'bookmark' order by ts_ns");
  assert.ok(marks.length > 1, "there are bookmarks");
  const [lane, picture] = [viewer.page.locator(".label.bookmarks"), viewer.page.locator("#picture")];
  assert.equal(await lane.count(), 1);
  const [strip, box] = [await lane.boundingBox(), await picture.boundingBox()];
  const isInside = (y) => box.y + y > strip.y && box.y + y < strip.y + strip.height;
  const written = () =>
    viewer.page.evaluate(() => window.drawn.slice()).then((drawn) => drawn.filter(([, y]) => isInside(y)));
  await viewer.focus();
  await viewer.press("w", "0");
  await viewer.linkIs("everything is shown", ({ from }) => from !== undefined);
  const isAll = (drawn) => marks.every(({ name }) => drawn.some(([text]) => text === name));
  const drawn = await until("all bookmarks are written", written, isAll);
  const others = drawn.filter(([text]) => !marks.some(({ name }) => name === text));
  assert.deepEqual(others, [], "nothing else is written in their lane");
  const { from, to } = await viewer.link();
  const isOwn = (x) => marks.some(({ ts_ns }) => Math.abs(x - (ts_ns - from) / (to - from) - 0.07) < 0.08);
  const ink = await inked(viewer, "bookmarks", 8);
  assert.ok(ink.length > 0 && ink.every(isOwn), `something else is drawn there: ${ink.filter((x) => !isOwn(x))}`);
  const [{ name, ts_ns }] = marks;
  const view = [Math.max(0, ts_ns - 1e7), ts_ns + 1e8];
  await textsIn(viewer, `${name} is written`, view, (texts) => texts.includes(name));
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
    () => inked(viewer, "logs", 4),
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
    () => inked(viewer, "logs", -2),
    (found) => found.length > 0 && found.every((x) => x > part(hits.a) - 0.01 && x < part(hits.b) + 0.01),
  );
}

/// Lines that come at even times fill the strip evenly, however wide the window is and whatever share of them is shown.
async function even(viewer) {
  const { page } = viewer;
  const [{ first, last }] = viewer.query("select first_ts_ns as first, last_ts_ns as last from traces");
  for (const width of [1280, 1013, 800]) {
    await page.setViewportSize({ width, height: 720 });
    // Up to about one line per pixel.
    for (const steps of [0, 2, 5]) {
      await viewer.focus();
      await viewer.press("w", "0", ..."w".repeat(steps));
      const wanted = (last - first) * 0.7 ** steps;
      await viewer.linkIs(`${steps} steps in`, ({ from, to }) => Math.abs((to - from) / wanted - 1) < 0.02);
      const shades = await shadesOf(viewer);
      const [least, most] = [Math.min(...shades), Math.max(...shades)];
      assert.ok(most > 0 && least / most > 0.75, `${width} pixels, ${steps} steps in: from ${least} to ${most}`);
    }
  }
}

/// How much each pixel of the strip of a log differs from the line at its top, without the ends of the view.
async function shadesOf(viewer) {
  await viewer.isDrawn();
  const [label, picture] = [viewer.page.locator(".label.logs"), viewer.page.locator("#picture")];
  const [strip, box] = [await label.first().boundingBox(), await picture.boundingBox()];
  return picture.evaluate(
    (canvas, { top, height }) => {
      const { width, data } = canvas.getContext("2d").getImageData(0, top, canvas.width, height);
      const shades = new Array(width).fill(0);
      data.forEach((part, at) => (shades[Math.floor(at / 4) % width] += data[at % (4 * width)] - part));
      return shades.slice(width * 0.1, width * 0.9);
    },
    { top: Math.round(strip.y - box.y) + 1, height: strip.height - 6 },
  );
}

const CHECKS = { bookmarks, even, labels, log };

await test((viewer, { more }) => CHECKS[more.check](viewer));
