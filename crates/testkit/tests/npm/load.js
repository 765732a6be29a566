'use strict';
// Loads trace files with WTF's reader and prints the result of each, one JSON object per line.
// Usage: node load.js MODULE_DIR FILE...

const path = require('path');
const reader = path.join(process.argv[2], 'node_modules/tracing-framework/build-out/wtf_node_js_compiled.js');

// The reader logs warnings; standard output must hold only the answer.
console.log = console.warn = console.error = () => {};

const answer = object => process.stdout.write(JSON.stringify(object) + '\n');

const plain = value => {
  if (value === undefined) return null;
  if (typeof value === 'number' && !Number.isFinite(value)) return {float: String(value)};
  if (typeof value === 'number' && Object.is(value, -0)) return {float: '-0'};
  if (ArrayBuffer.isView(value)) return Array.from(value, plain);
  if (Array.isArray(value)) return value.map(plain);
  if (value && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
  }
  return value;
};

const micro = time => Math.round(time * 1000);

const event = it => {
  const type = it.getType();
  const data = it.getArguments();
  const args = data ? plain(data.toObject ? data.toObject() : data) : null;
  return {
    name: type.getName(),
    flags: type.getFlags(),
    scope: it.isScope(),
    t: micro(it.getTime()),
    end: it.isScope() ? micro(it.getEndTime()) : null,
    depth: it.getDepth(),
    args,
  };
};

const zone = zone => {
  const events = [];
  const list = zone.getEventList();
  for (let it = list.begin(); !it.done(); it.next()) events.push(event(it));
  return {name: zone.getName(), type: zone.getType(), location: zone.getLocation(), events};
};

const load = file => new Promise(done => {
  // Loaded again for each file, because the reader numbers ranges and bad names over all files of a process.
  delete require.cache[require.resolve(reader)];
  const wtf = require(reader);
  wtf.db.load(file, db => {
    if (!db || db instanceof Error) {
      answer({file, ok: false, error: String(db && db.message || db)});
    } else if (process.env.WTF_BRIEF) {
      answer({file, ok: true, events: db.getZones().map(zone => zone.getEventList().getCount())});
    } else {
      answer({file, ok: true, zones: db.getZones().map(zone)});
    }
    done();
  });
});

let current = null;
process.on('uncaughtException', error => {
  answer({file: current, ok: false, error: 'uncaught: ' + error.message});
  process.exit(0);
});

(async () => {
  for (current of process.argv.slice(3)) await load(current);
})();
