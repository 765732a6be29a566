// The kind of page, by its address: given traces, a store, or one trace of a store.

/** The contents of an address. */
export interface PagePlace {
  readonly isStore: boolean;
  /** The trace of the store that is shown. */
  readonly trace: string | null;
}

export function placeOf(search: string): PagePlace {
  const parameters = new URLSearchParams(search);
  const trace = parameters.get("trace");
  return { isStore: parameters.has("store") && trace === null, trace };
}

/** The address of a trace of the store, or of its list, on the same server. */
export function addressOf(search: string, trace: string | null): string {
  const parameters = new URLSearchParams(search);
  if (trace === null) parameters.delete("trace");
  else parameters.set("trace", trace);
  return `?${parameters}`;
}
