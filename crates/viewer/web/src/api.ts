// How to ask the server.

import type { Gets, Posts, Refused } from "./wire";

/** Kinds of places that are not spans. */
export const SWITCH = 3;
export const EVENT = 4;

type Query = Record<string, string | number | boolean | null | undefined>;

/** Endpoints that answer with bytes. */
type Bytes = { [P in keyof Gets]: Gets[P]["answer"] extends ArrayBuffer ? P : never }[keyof Gets];

/** Endpoints that are sent a body. */
type Bodied = { [P in keyof Posts]: Posts[P] extends { body: unknown } ? P : never }[keyof Posts];

/** Asks for JSON. */
export async function ask<P extends keyof Gets>(
  path: P,
  query: Gets[P]["query"],
  signal?: AbortSignal,
): Promise<Gets[P]["answer"]> {
  const response = await request(address(path, query), signal ? { signal } : {});
  return (await response.json()) as Gets[P]["answer"];
}

/** Asks for bytes. */
export async function askBytes<P extends Bytes>(
  path: P,
  query: Gets[P]["query"],
  signal: AbortSignal,
): Promise<ArrayBuffer> {
  return (await request(address(path, query), { signal })).arrayBuffer();
}

/** Asks with a body: for queries that are too long for an address. */
export async function askWith<P extends Bodied>(
  path: P,
  body: Posts[P]["body"],
  signal: AbortSignal,
): Promise<Posts[P]["answer"]> {
  const response = await request(address(path, {}), { method: "POST", body: JSON.stringify(body), signal });
  return (await response.json()) as Posts[P]["answer"];
}

/** Tells the server something, or sends it a file. */
export async function send<P extends Exclude<keyof Posts, Bodied>>(
  path: P,
  query: Posts[P]["query"],
  file?: File,
): Promise<void> {
  await request(address(path, query), { method: "POST", ...(file ? { body: file } : {}) });
}

/** Where an endpoint is, with a query. */
export function address(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) parameters.set(key, written(value));
  }
  return `api/${path}?${parameters}`;
}

/** A large whole number is written with all of its digits: the shortest form of it may be another time. */
function written(value: string | number | boolean): string {
  return typeof value === "number" && Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

async function request(url: string, init: RequestInit): Promise<Response> {
  const token = new URLSearchParams(location.search).get("token") ?? "";
  const response = await fetch(url, { ...init, headers: { "x-traceloom-token": token } });
  if (!response.ok) {
    throw new Error(reasonIn(await response.text().catch(() => "")) || `the server answered ${response.status}`);
  }
  return response;
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
