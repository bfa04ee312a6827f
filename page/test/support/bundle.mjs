/* A module of the page's data as Node can import it. */
import { build } from "esbuild";

export async function load(path) {
  const result = await build({
    entryPoints: [new URL(`../../src/${path}`, import.meta.url).pathname],
    bundle: true,
    write: false,
    format: "esm",
    target: "node18",
    logLevel: "warning",
  });

  return import(`data:text/javascript;base64,${Buffer.from(result.outputFiles[0].contents).toString("base64")}`);
}
