import { defineConfig } from "vite";

// Classic scripts: from a file, a browser loads no modules. `--mode page` is the page, `--mode worker` its worker.
export default defineConfig(({ mode }) => ({
  build: {
    outDir: "page",
    emptyOutDir: false,
    target: "es2022",
    lib: {
      entry: `src/local/${mode}.ts`,
      formats: ["iife"],
      name: "traceloom",
      fileName: () => `${mode}.js`,
      cssFileName: "traceloom",
    },
  },
}));
