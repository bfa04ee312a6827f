/*
 * Has speedscope read a file: speedscope.mjs FILE opens speedscope's own page in a browser, with the file as its command
 * gives it, and turns to each profile. Prints what the page calls itself, then each profile's title, a line each.
 * CHROMIUM names the browser.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const SPEEDSCOPE = fileURLToPath(new URL("../../node_modules/speedscope/dist/release/index.html", import.meta.url));

const [file] = process.argv.slice(2);
const directory = mkdtempSync(join(tmpdir(), "speedscope-"));
const script = join(directory, "profile.js");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

try {
  const page = await browser.newPage();

  for (const event of ["pageerror", "dialog"])
    page.on(event, (what) => {
      console.log(`${event}: ${what.message instanceof Function ? what.message() : what.message}`);
      process.exitCode = 1;
    });
  writeFileSync(script, `speedscope.loadFileFromBase64("report.json", "${readFileSync(file).toString("base64")}")`);
  await page.goto(`file://${SPEEDSCOPE}#localProfilePath=${script}`);
  await page.waitForFunction(() => document.title.endsWith(" - speedscope"));
  console.log(await page.title());
  const count = JSON.parse(readFileSync(file, "utf8")).profiles.length;

  for (let at = 1; at <= count; at++) {
    const title = page.getByText(`(${at}/${count})`).locator("..");

    console.log(await title.innerText());
    await page.keyboard.press("n");
  }
} finally {
  await browser.close();
  rmSync(directory, { recursive: true });
}
