// What the page and its worker send each other.

/** The first message: the router as WebAssembly. */
export interface Start {
  wasm: ArrayBuffer;
}

/** A request; one at a time. */
export interface Asked {
  method: string;
  path: string;
  query: string;
  body: string;
  /** The file of `open`: the worker reads what it needs of it. */
  file: Blob | null;
}

/** How far a file is read. */
export interface Reading {
  read: number;
  total: number;
}

/** The answer to the request that was sent last. */
export interface Answered {
  status: number;
  type: string;
  body: ArrayBuffer;
  /** Why nothing is answered from now on. */
  end: string | null;
}

export type FromWorker = Reading | Answered;
