// Opens trace files in Perfetto's page, as a person does, and queries the page.
//
// Gets {"page": FOLDER, "files": [PATH, …], "queries": [SQL, …], "answers": PATH}; the file of the answers gets one line
// for each file: {"file": PATH, "error": TEXT or null, "answers": [[[CELL, …], …], …]}.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { main, sendFile, serve, visit } from '../../../testkit/browser/browser.mjs';

/// Runs in the page: rows of cells, with integers as text, which keeps their digits.
async function ask(queries) {
  const answers = [];
  for (const sql of queries) {
    const result = await app.trace.engine.query(sql);
    const rows = [];
    for (const it = result.iter({}); it.valid(); it.next()) {
      const cells = result.columns().map((column) => it.get(column));
      rows.push(cells.map((cell) => (typeof cell === 'bigint' ? { integer: String(cell) } : cell)));
    }
    answers.push(rows);
  }
  return answers;
}

/// JSON in which integers keep all of their digits.
function json(value) {
  if (Array.isArray(value)) return `[${value.map(json).join(',')}]`;
  if (value?.integer !== undefined) return value.integer;
  return JSON.stringify(value) ?? 'null';
}

/// Errors that the page has for any file: it looks for a native engine and for its developers' server, and uses a
/// directive that the browser does not know.
const OWN = /^warning:|127\.0\.0\.1:9001|'navigate-to'/;

await main(async (browser, { page: folder, files, queries, answers }) => {
  let shown = files[0];
  const base = await serve(folder, {
    // Requests of the page to the program that serves it.
    '/vizviewer_info': (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
    '/file_info': (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
    '/localtrace': (response) => sendFile(response, shown),
    '/live_reload': (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write('\n'),
  });
  const { context, complaints } = await visit(browser, { excused: (text) => OWN.test(text) });
  await context.route('https://storage.cloud.google.com/**', (route) => route.fulfill({ contentType: 'text/javascript', body: '' }));
  const page = await context.newPage();
  const lines = [];
  for (shown of files) {
    await page.goto(base);
    await page.waitForFunction(() => globalThis.app?.trace && document.querySelector('.pf-viewer-page .pf-track__title'));
    await page.evaluate(() => waitForPerfettoIdle());
    const found = await page.evaluate(ask, queries);
    lines.push(`{"file":${JSON.stringify(shown)},"error":null,"answers":${json(found)}}\n`);
    assert.deepEqual(complaints, [], path.basename(shown));
  }
  fs.writeFileSync(answers, lines.join(''));
});
