/*
 * The pictures of the documents: screenshots.mjs DIRECTORY NAME=ADDRESS... takes one of each address, which is a file or
 * the live page. CHROMIUM names the browser.
 */
import { join } from "node:path";
import { chromium } from "playwright-core";

const [directory, ...pictures] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

for (const picture of pictures) {
  const at = picture.indexOf("=");
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });

  await page.goto(picture.slice(at + 1));
  await page.waitForSelector("main");
  await page.waitForTimeout(3000); // The live page asks for what it shows.
  await page.screenshot({ path: join(directory, `${picture.slice(0, at)}.png`) });
  await page.close();
}
await browser.close();
