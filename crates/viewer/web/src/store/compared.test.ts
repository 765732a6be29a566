import { expect, it } from "vitest";
import { store } from ".";
import { page, trace } from "../testing/page";
import { comparedTraces } from "./compared";

const traces = [trace(), trace({ state: "loading" }), trace(), trace()];

it("compares the first two traces that are read", () => {
  store.set(page({ traces }));
  expect(comparedTraces()).toEqual([0, 2]);
});

it("compares the traces of the link if both are read", () => {
  store.set(page({ traces }, { links: { changes: { before: 3, after: 0 } } }));
  expect(comparedTraces()).toEqual([3, 0]);
  store.set(page({ traces }, { links: { changes: { before: 3, after: 1 } } }));
  expect(comparedTraces()).toEqual([0, 2]);
});

it("compares nothing with a single trace", () => {
  store.set(page());
  expect(comparedTraces()).toBeNull();
});
