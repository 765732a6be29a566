import { defineConfig } from "vite";

// Fixed names: the server knows its files, and the committed build must not change without a reason.
export default defineConfig({
  base: "./",
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    rollupOptions: {
      output: {
        entryFileNames: "traceloom.js",
        assetFileNames: "traceloom[extname]",
      },
    },
  },
});
