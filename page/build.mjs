/* Builds the page without data: one file, argument 1. Where @REPORT@ stands, the client puts the data. */
import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const out = process.argv[2] ?? "page.html";
const common = { bundle: true, minify: true, write: false, target: "es2022", legalComments: "none", logLevel: "warning" };
const script = await build({ ...common, entryPoints: ["src/main.tsx"], format: "iife", jsx: "automatic", jsxImportSource: "preact" });
const style = await build({ ...common, entryPoints: ["src/page.css"] });

/* "</script" in a string of ours would end the element. */
const inline = (result) => result.outputFiles[0].text.replaceAll("</script", "<\\/script").trim();
/* Their notices go wherever they go, so also with a report that is sent to somebody. */
const libraries = Object.keys(JSON.parse(readFileSync("package.json", "utf8")).dependencies);
const notices = libraries.map((name) => `${name}: ${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}`).join("\n\n");
const page = readFileSync("src/page.html", "utf8")
  .replace("@NOTICES@", () => notices)
  .replace("@STYLE@", () => inline(style))
  .replace("@SCRIPT@", () => inline(script));

if (page.split("@REPORT@").length !== 2) throw new Error("the page has not one place for a report");
writeFileSync(out, page);
