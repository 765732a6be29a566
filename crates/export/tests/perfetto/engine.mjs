// Asks Perfetto's engine, as it runs in Perfetto's page, about trace files.
//
// usage: node engine.mjs FOLDER, where FOLDER holds engine_bundle.js and trace_processor.wasm.
// Each line of stdin is {"file": PATH, "queries": [SQL, …]}; each line of stdout is
// {"file": PATH, "error": TEXT or null, "answers": [[[CELL, …], …], …]}.

import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import vm from 'node:vm';

const folder = process.argv[2];
const APPEND = 1, FINALIZE = 2, QUERY = 3, RESET = 9;
const CHUNK_BYTES = 4 << 20;

// ---- Protobuf, as much as the engine's calls need.

function varint(number) {
  const bytes = [];
  let rest = BigInt(number);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

const uintField = (field, number) => Buffer.concat([varint(field * 8), varint(number)]);
const bytesField = (field, bytes) => Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);

function* fields(bytes) {
  let at = 0;
  const number = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(number());
    const kind = tag & 7;
    if (kind === 0) {
      yield [tag >> 3, number()];
      continue;
    }
    const length = kind === 1 ? 8 : kind === 5 ? 4 : Number(number());
    yield [tag >> 3, bytes.subarray(at, at += length)];
  }
}

function* packed(bytes) {
  let value = 0n, shift = 0n;
  for (const byte of bytes) {
    value |= BigInt(byte & 127) << shift;
    shift += 7n;
    if (byte < 128) {
      yield BigInt.asIntN(64, value);
      value = shift = 0n;
    }
  }
}

// ---- The engine: it expects to be a worker that is sent one port.

const replies = [];
const port = { onmessage: null, postMessage: (bytes) => replies.push(Buffer.from(bytes)) };

async function start() {
  const bytesOf = (url) => fs.readFileSync(path.join(folder, path.basename(String(url))));
  class XMLHttpRequest {
    open(_, url) { this.url = url; }
    send() { this.response = new Uint8Array(bytesOf(this.url)).buffer; }
  }
  const log = (...words) => { if (process.env.ENGINE_VERBOSE) console.error(...words); };
  const self = { location: { href: 'http://localhost/engine_bundle.js' } };
  const context = {
    self, location: self.location, WorkerGlobalScope: class {}, importScripts() {}, XMLHttpRequest,
    fetch: async (url) => new Response(bytesOf(url), { headers: { 'content-type': 'application/wasm' } }),
    console: { log, warn: log, error: log, info: log, debug: log },
    WebAssembly, URL, TextDecoder, TextEncoder, Response, performance, crypto: globalThis.crypto,
    setTimeout, clearTimeout, queueMicrotask,
    // WebAssembly throws errors and makes arrays of this realm; the engine must take them for its own.
    Error, RangeError, TypeError, Promise, BigInt, ArrayBuffer, Int8Array, Int16Array, Int32Array, Uint8Array, Uint16Array,
    Uint32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array,
  };
  vm.createContext(context);
  vm.runInContext(fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'), context);
  self.onmessage({ data: port });
  while (!port.onmessage) await new Promise((resolve) => setTimeout(resolve, 10));
}

let sequence = 0;

/// Sends one request and gives the messages that come back.
function call(request, ...arguments_) {
  sequence += 1;
  const message = Buffer.concat([uintField(1, sequence), uintField(2, request), ...arguments_]);
  port.onmessage({ data: new Uint8Array(bytesField(1, message)) });
  const messages = [];
  for (const reply of replies.splice(0)) {
    for (const [field, value] of fields(reply)) {
      if (field !== 1) continue;
      const message = new Map(fields(value));
      if (message.has(5)) throw new Error(message.get(5).toString());
      messages.push(message);
    }
  }
  return messages;
}

function check(result, errorField) {
  for (const [field, value] of result ? fields(result) : []) {
    if (field === errorField) throw new Error(value.toString());
  }
}

function load(file) {
  const handle = fs.openSync(file);
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let read; (read = fs.readSync(handle, chunk)) > 0;) {
    for (const message of call(APPEND, bytesField(101, chunk.subarray(0, read)))) check(message.get(201), 2);
  }
  fs.closeSync(handle);
  for (const message of call(FINALIZE)) check(message.get(212), 1);
}

function query(sql) {
  let columns = 0;
  const cells = [];
  for (const message of call(QUERY, bytesField(103, bytesField(1, Buffer.from(sql))))) {
    for (const [field, value] of fields(message.get(203) ?? Buffer.alloc(0))) {
      if (field === 1) columns += 1;
      if (field === 2) throw new Error(`${value} in ${sql}`);
      if (field === 3) readBatch(value, cells);
    }
  }
  const rows = [];
  for (let at = 0; at < cells.length; at += columns) rows.push(cells.slice(at, at + columns));
  return rows;
}

function readBatch(batch, cells) {
  const kinds = [], numbers = [], floats = [], blobs = [];
  let texts = [];
  for (const [field, value] of fields(batch)) {
    if (field === 1) kinds.push(...(typeof value === 'bigint' ? [value] : packed(value)));
    if (field === 2) numbers.push(...(typeof value === 'bigint' ? [BigInt.asIntN(64, value)] : packed(value)));
    if (field === 3) for (let at = 0; at < value.length; at += 8) floats.push(value.readDoubleLE(at));
    if (field === 4) blobs.push(value.toString('hex'));
    if (field === 5) texts = value.toString().split('\0');
  }
  const take = { 1: () => null, 2: () => numbers.shift(), 3: () => floats.shift(), 4: () => texts.shift(), 5: () => blobs.shift() };
  for (const kind of kinds) cells.push(take[Number(kind)]());
}

/// JSON in which integers keep all of their digits.
function json(value) {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map(json).join(',')}]`;
  return JSON.stringify(value) ?? 'null';
}

/// Writes at once: what a pipe has not taken at exit would be lost.
function say(line) {
  const bytes = Buffer.from(line);
  for (let at = 0; at < bytes.length;) at += fs.writeSync(1, bytes, at);
}

await start();
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { file, queries } = JSON.parse(line);
  let error = null, answers = [];
  try {
    call(RESET);
    load(file);
    answers = queries.map(query);
  } catch (failure) {
    error = String(failure.message ?? failure);
  }
  say(`{"file":${json(file)},"error":${json(error)},"answers":${json(answers)}}\n`);
}
process.exit(0);
