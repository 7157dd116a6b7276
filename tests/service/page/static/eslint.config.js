/**
 * The rules for the page's JavaScript. `make check` runs them from the top of the repository.
 *
 * This folder holds the checks, and the types of what the API answers. It stands apart from the
 * page because browsers load, and the image carries, everything in the page's folder.
 */

import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["**/vendor/**", "**/node_modules/**"] },
  js.configs.recommended,
  {
    files: ["daedalus/service/page/static/*.js"],
    languageOptions: { globals: { ...globals.browser, uPlot: "readonly" } },
  },
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      curly: ["error", "multi-line"],
      eqeqeq: "error",
      "max-lines": ["error", 500],
      "max-lines-per-function": ["error", 70],
      "no-implicit-globals": "error",
      "no-shadow": "error",
      "no-throw-literal": "error",
      "no-unused-expressions": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
      "prefer-template": "error",
    },
  },
];
