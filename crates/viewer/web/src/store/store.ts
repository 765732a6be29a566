// An observable state: listeners are notified only of the values that they selected.

interface Subscription<S> {
  /** Checks the state, and calls the listener if the selected value changed. */
  check(state: S): void;
}

/** A state of named parts, which are replaced as a whole and never modified in place. */
export class Store<S extends object> {
  private current: Readonly<S>;
  private readonly subscriptions = new Set<Subscription<S>>();

  constructor(initial: S) {
    this.current = initial;
  }

  get state(): Readonly<S> {
    return this.current;
  }

  /** Replaces parts of the state, then notifies. */
  set(change: Partial<S>): void {
    this.current = { ...this.current, ...change };
    // A listener may change the state again; later listeners see only the newest state.
    for (const subscription of this.subscriptions) subscription.check(this.current);
  }

  /** Calls the listener whenever the selected value changes; returns a function that unsubscribes. */
  subscribe<T>(select: (state: Readonly<S>) => T, listener: (value: T) => void): () => void {
    let known = select(this.current);
    const subscription = {
      check: (state: Readonly<S>): void => {
        const value = select(state);
        if (isSame(known, value)) return;
        known = value;
        listener(value);
      },
    };
    this.subscriptions.add(subscription);
    return () => void this.subscriptions.delete(subscription);
  }
}

/** Whether two values are equal; lists are compared by their elements. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (!Array.isArray(one) || !Array.isArray(other)) return false;
  return one.length === other.length && one.every((value, at) => Object.is(value, other[at]));
}
