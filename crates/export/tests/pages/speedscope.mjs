// Opens profiles in speedscope's page and compares the tables that it shows with what the profiles hold.
//
// Gets {"page": FOLDER, "files": [PATH, …]}.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { main, sendFile, serve, until, visit } from '../../../testkit/browser/browser.mjs';

/// Self and total weight of each frame of a profile; a recursive frame counts once.
function weigh(profile) {
  const [own, total, open] = [new Map(), new Map(), new Map()];
  const add = (map, frame, weight) => map.set(frame, (map.get(frame) ?? 0) + weight);
  if (profile.type === 'sampled') {
    profile.samples.forEach((stack, sample) => {
      add(own, stack.at(-1), profile.weights[sample]);
      for (const frame of new Set(stack)) add(total, frame, profile.weights[sample]);
    });
    return { own, total };
  }
  const stack = [];
  for (const { type, frame, at } of profile.events) {
    if (type === 'O') {
      add(open, frame, 1);
      stack.push({ begin: at, inner: 0 });
      continue;
    }
    const { begin, inner } = stack.pop();
    add(own, frame, at - begin - inner);
    add(open, frame, -1);
    add(total, frame, open.get(frame) === 0 ? at - begin : 0);
    if (stack.length > 0) stack.at(-1).inner += at - begin;
  }
  return { own, total };
}

const UNITS = { s: 1e9, ms: 1e6, 'µs': 1e3, ns: 1, B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, '': 1 };

/// Whether a text such as `48.92µs (38%)` shows a weight, to its last digit.
function isShown(text, weight) {
  const [, whole, part = '', unit] = /^([\d,]+)(?:\.(\d+))?\s*([a-zµA-Z]*)(?: \(.*%\))?$/.exec(text) ?? assert.fail(`no weight: ${text}`);
  const step = (UNITS[unit] ?? assert.fail(`no unit: ${text}`)) / 10 ** part.length;
  return Math.abs(Number(`${whole.replaceAll(',', '')}.${part}`) * UNITS[unit] - weight) <= step * 0.5001;
}

/// The rows of the table of functions.
const rows = (page) => page.evaluate(() => {
  const shown = [...document.querySelectorAll('tr')].filter((row) => row.children.length === 3 && row.querySelector('td[title], td > span') && row.querySelector('td > div > div'));
  return shown.map((row) => [row.children[2].textContent, row.children[0].textContent, row.children[1].textContent]);
});

function compare(name, frames, profile, shown) {
  const { own, total } = weigh(profile);
  const expected = [...total.keys()].map((frame) => [frames[frame].name, total.get(frame), own.get(frame) ?? 0]);
  assert.equal(shown.length, expected.length, `${name}: functions of ${profile.name}`);
  for (const [symbol, totalText, ownText] of shown) {
    const at = expected.findIndex(([name, total, own]) => name === symbol && isShown(totalText, total) && isShown(ownText, own));
    assert.ok(at >= 0, `${name}: ${profile.name} has no ${symbol} with ${totalText} in all and ${ownText} of its own`);
    expected.splice(at, 1);
  }
}

await main(async (browser, { page: folder, files }) => {
  let file = '';
  const base = await serve(folder, { '/profile.json': (response) => sendFile(response, file) });
  for (file of files) {
    // High enough to show all rows of the table.
    const { context, complaints } = await visit(browser, { viewport: { width: 1280, height: 3000 } });
    const page = await context.newPage();
    const { profiles, shared } = JSON.parse(fs.readFileSync(file, 'utf8'));
    const name = path.basename(file);
    await page.goto(`${base}/#profileURL=/profile.json&view=sandwich`);
    for (const [number, profile] of profiles.entries()) {
      const title = profiles.length > 1 ? `${profile.name} (${number + 1}/${profiles.length})` : profile.name;
      await until(`${name} shows ${title}`, () => page.locator('body').innerText(), (text) => text.includes(title));
      const isFull = (shown) => shown.length === weigh(profile).total.size;
      compare(name, shared.frames, profile, await until(`${name}: rows of ${title}`, () => rows(page), isFull));
      await page.keyboard.press('n');
    }
    assert.deepEqual(complaints, [], name);
    await context.close();
  }
});
