import preact from "@preact/preset-vite";
import { defineConfig } from "vitest/config";

// Built files go where Django's staticfiles finds them; django-vite reads the manifest there.
// The relative base keeps font and chunk addresses right under any STATIC_URL.
export default defineConfig({
  base: "./",
  plugins: [preact()],
  build: {
    outDir: "../static/labelling_ui/dist",
    emptyOutDir: true,
    manifest: "manifest.json",
    assetsInlineLimit: 0,
    target: "es2022",
    rollupOptions: { input: ["src/main.tsx", "src/reading/page.tsx", "src/review/page.ts"] },
  },
  // The tests of one process share its modules: an environment for each file takes more CPU time than the tests.
  test: { include: ["tests/**/*.test.ts"], environment: "node", isolate: false, testTimeout: 60_000 },
});
