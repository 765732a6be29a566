// Sends requests to the server, or to a worker of the page itself.

import type { Gets, Posts, Refused } from "./wire";

/** Kinds of places that are not spans. */
export const SWITCH = 3;
export const EVENT = 4;

type Query = Record<string, string | number | boolean | null | undefined>;

/** Endpoints that answer with bytes. */
type Bytes = { [P in keyof Gets]: Gets[P]["answer"] extends ArrayBuffer ? P : never }[keyof Gets];

/** Endpoints that are sent a body. */
type Bodied = { [P in keyof Posts]: Posts[P] extends { body: unknown } ? P : never }[keyof Posts];

/** Requests JSON. */
export async function ask<P extends keyof Gets>(
  path: P,
  query: Gets[P]["query"],
  signal?: AbortSignal,
): Promise<Gets[P]["answer"]> {
  const response = await request(address(path, query), signal ? { signal } : {});
  return (await json(response)) as Gets[P]["answer"];
}

/** Requests bytes. */
export async function askBytes<P extends Bytes>(
  path: P,
  query: Gets[P]["query"],
  signal: AbortSignal,
): Promise<ArrayBuffer> {
  return (await request(address(path, query), { signal })).arrayBuffer();
}

/** Sends a query as a body, for queries that are too long for a URL. */
export async function askWith<P extends Bodied>(
  path: P,
  body: Posts[P]["body"],
  signal: AbortSignal,
): Promise<Posts[P]["answer"]> {
  const sent = meant(JSON.stringify(body), "\\\\u");
  const response = await request(address(path, {}), { method: "POST", body: sent, signal });
  return (await json(response)) as Posts[P]["answer"];
}

/** Sends a command or a file to the server. */
export async function send<P extends Exclude<keyof Posts, Bodied>>(
  path: P,
  query: Posts[P]["query"],
  file?: File,
): Promise<void> {
  await request(address(path, query), { method: "POST", ...(file ? { body: file } : {}) });
}

/** The URL of an endpoint with a query. */
export function address(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) parameters.set(key, meant(written(value), "\\u"));
  }
  return `api/${path}?${parameters}`;
}

/** A large integer is written with all of its digits, because its shortest form may be a different time. */
function written(value: string | number | boolean): string {
  return typeof value === "number" && Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

/** Sends a request and returns the response. */
export type Carrier = (url: string, init: RequestInit) => Promise<Response>;

let carry: Carrier = (url, init) => {
  const page = new URLSearchParams(location.search);
  const trace = page.get("trace");
  const headers = {
    "x-traceloom-token": page.get("token") ?? "",
    ...(trace === null ? {} : { "x-traceloom-trace": trace }),
  };
  return fetch(url, { ...init, headers }).catch((error: unknown) => {
    // Without any answer, fetch throws a TypeError; a canceled request throws something else.
    throw error instanceof TypeError ? new Gone() : error;
  });
};

/** Replaces the server with another carrier of requests. */
export function carryBy(carrier: Carrier): void {
  carry = carrier;
}

async function request(url: string, init: RequestInit): Promise<Response> {
  const response = await carry(url, init);
  if (!response.ok) {
    throw new Error(reasonIn(await response.text().catch(() => "")) || `the server answered ${response.status}`);
  }
  return response;
}

/** The server no longer answers. */
export class Gone extends Error {
  constructor(reason = "The server has stopped.") {
    super(reason);
  }
}

/** Characters that change the direction of text: a name with one could look like another name. */
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

async function json(response: Response): Promise<unknown> {
  return JSON.parse(shown(await response.text()));
}

/** JSON in which characters that change the direction of text are visible escapes. */
export function shown(text: string): string {
  return text.replace(BIDI, (letter) => `\\\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The inverse, so that text on the page can be sent back. */
export function meant(text: string, escape: "\\u" | "\\\\u"): string {
  const escaped = /(\\\\?)u(061c|200e|200f|202[a-e]|206[6-9])/g;
  return text.replace(escaped, (whole, slashes: string, code: string) =>
    `${slashes}u` === escape ? String.fromCharCode(parseInt(code, 16)) : whole,
  );
}

/** The sentence of a refusal. */
export function reasonIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as Partial<Refused>;
    return typeof error === "string" ? error : "";
  } catch {
    return text.slice(0, 300);
  }
}
