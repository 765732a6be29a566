import { describe, expect, it, vi } from "vitest";
import { isSame, Store } from "./store";

interface Made {
  view: { from: number; to: number };
  name: string;
  scroll: number;
}

const made = (): Store<Made> => new Store<Made>({ view: { from: 0, to: 1 }, name: "a", scroll: 0 });

describe("Store", () => {
  it("notifies only those whose value changed", () => {
    const store = made();
    const [ofView, ofName] = [vi.fn(), vi.fn()];
    store.subscribe(({ view }) => view, ofView);
    store.subscribe(({ name }) => name, ofName);
    store.set({ view: { from: 2, to: 3 } });
    expect(ofView).toHaveBeenCalledExactlyOnceWith({ from: 2, to: 3 });
    expect(ofName).not.toHaveBeenCalled();
    store.set({ name: "a", scroll: 9 });
    expect(ofName).not.toHaveBeenCalled();
  });

  it("compares lists of values by what is in them", () => {
    const store = made();
    const listener = vi.fn();
    store.subscribe(({ name, view }) => [name, view], listener);
    store.set({ scroll: 5 });
    expect(listener).not.toHaveBeenCalled();
    store.set({ name: "b" });
    expect(listener).toHaveBeenCalledTimes(1);
  });

  it("lets a listener change the state, and shows each value once", () => {
    const store = made();
    const seen: number[] = [];
    store.subscribe(
      ({ name }) => name,
      () => store.set({ scroll: store.state.scroll + 1 }),
    );
    store.subscribe(
      ({ scroll }) => scroll,
      (scroll) => void seen.push(scroll),
    );
    store.set({ name: "b", scroll: 10 });
    expect(store.state).toMatchObject({ name: "b", scroll: 11 });
    expect(seen).toEqual([11]);
  });

  it("ends a subscription", () => {
    const store = made();
    const listener = vi.fn();
    const end = store.subscribe(({ name }) => name, listener);
    end();
    store.set({ name: "b" });
    expect(listener).not.toHaveBeenCalled();
  });

  it("never changes a state in place", () => {
    const store = made();
    const before = store.state;
    store.set({ scroll: 1 });
    expect(before.scroll).toBe(0);
    expect(store.state).not.toBe(before);
  });
});

describe("isSame", () => {
  it.each([
    [1, 1, true],
    [NaN, NaN, true],
    [[1, "a"], [1, "a"], true],
    [[1], [1, 2], false],
    [[{}], [{}], false],
    [{}, {}, false],
    [[], null, false],
  ])("%j and %j: %s", (one, other, expected) => expect(isSame(one, other)).toBe(expected));
});
