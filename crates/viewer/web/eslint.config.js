import js from "@eslint/js";
import globals from "globals";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist", "node_modules"] },
  js.configs.recommended,
  {
    files: ["src/**/*.ts", "*.ts"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
      "@typescript-eslint/explicit-function-return-type": ["error", { allowExpressions: true }],
      "@typescript-eslint/explicit-member-accessibility": ["error", { accessibility: "no-public" }],
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      // A listener is often one call, and numbers are often written into a text.
      "@typescript-eslint/no-confusing-void-expression": "off",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowNullish: true }],
      // `dataset["drawn"]` says that the key is ours.
      "@typescript-eslint/dot-notation": "off",
      // An index that is known to be there is asserted by its type, never by `!`.
      "@typescript-eslint/non-nullable-type-assertion-style": "off",
      // An empty text is often as good as none.
      "@typescript-eslint/prefer-nullish-coalescing": ["error", { ignorePrimitives: { string: true } }],
      "max-params": ["error", { max: 5 }],
      eqeqeq: "error",
      "no-console": ["error", { allow: ["warn"] }],
      "no-restricted-globals": ["error", "event", "name"],
      "prefer-const": "error",
    },
  },
  {
    // No panel reaches into another one: they share widgets, and talk through the store.
    files: ["src/panels/*/**/*.ts"],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            { regex: "^\\.\\./(?!panel$|\\.\\./)", message: "A panel does not reach into another one." },
            { regex: "^\\.\\./\\.\\./(main|feed|linking|header)$", message: "A panel talks through the store." },
          ],
        },
      ],
    },
  },
  {
    // Written by a program.
    files: ["src/wire.ts"],
    rules: {
      "@typescript-eslint/array-type": "off",
      "@typescript-eslint/consistent-indexed-object-style": "off",
      "@typescript-eslint/consistent-type-definitions": "off",
    },
  },
  {
    files: ["tests/**/*.mjs", "*.js"],
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
  },
);
