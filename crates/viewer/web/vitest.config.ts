import { defineConfig } from "vitest/config";

// Pure modules only: what needs a page is tested in a real browser, by `crates/cli/tests/page`.
export default defineConfig({
  test: { environment: "node", include: ["src/**/*.test.ts"] },
});
