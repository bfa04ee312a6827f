/*
 * The live page in a browser: live.mjs ADDRESS APP DIRECTORY. A JVM of that name runs; a window is started in it with
 * the mouse, watched, opened and compared with another one. Prints a line a check; exits with 1 where one failed.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [address, app, directory] = process.argv.slice(2);
const AXE = readFileSync(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const WINDOW_MS = 120000;
const origin = new URL(address).origin;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, bypassCSP: true });
const page = await context.newPage();
const wrong = [];
let failed = 0, home = address;

page.setDefaultTimeout(WINDOW_MS);
page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
page.on("pageerror", (error) => wrong.push(error.message));
page.on("request", (request) => new URL(request.url()).origin !== origin && !request.url().startsWith("data:") && wrong.push(`asked for ${request.url()}`));

async function check(name, body) {
  if (failed) return;
  try {
    await body();
    assert.deepEqual(wrong, []);
    console.log(`ok ${name}`);
  } catch (error) {
    failed++;
    console.log(`not ok ${name}: ${String(error.stack ?? error).split("\n").slice(0, 6).join(" | ")}`);
    await page.screenshot({ path: join(directory, "failed.png") });
  }
}

const heads = () => page.locator(".row-head");

async function runWindow() {
  await page.goto(home);
  await heads().filter({ hasText: app }).first().click();
  await page.getByRole("button", { name: "10 seconds" }).click();
  await page.getByRole("button", { name: "5% of its CPU time" }).click();
  await page.getByRole("button", { name: "Start a window" }).click();
  await page.waitForSelector(".running progress");
}

await check("the address opens the page, and the token is gone from it", async () => {
  await page.goto(address);
  home = page.url();
  assert.ok(home.startsWith(`${origin}/`) && !home.includes("token"));
  await heads().filter({ hasText: app }).first().waitFor();
});

await check("a window is started, watched, and over", async () => {
  await runWindow();
  await page.waitForFunction(() => Number(document.querySelector(".running progress")?.value) > 2);
  await page.screenshot({ path: join(directory, "live-running.png") });
  await page.waitForSelector(".running", { state: "detached" });
});

await check("and once more", async () => {
  await runWindow();
  await page.waitForSelector(".running", { state: "detached" });
});

await check("a third one is ended early", async () => {
  await runWindow();
  await page.getByRole("button", { name: "End it now" }).click();
  await page.waitForSelector(".running", { state: "detached" });
});

await check("windows are listed with a chart", async () => {
  await page.getByRole("link", { name: "Windows", exact: true }).click();
  await page.waitForSelector(".chart circle");
  assert.equal(await page.locator(".row").count(), 3);
  await page.addScriptTag({ content: AXE });
  const result = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));

  assert.deepEqual(result.violations.filter((v) => ["serious", "critical"].includes(v.impact)).map((v) => `${v.id} ${v.nodes[0].html}`), []);
  await page.screenshot({ path: join(directory, "live-windows.png") });
});

await check("a window's report is the same page, and leads back", async () => {
  await page.locator(".row a").first().click();
  await page.waitForSelector("nav a");
  assert.equal(await page.locator("nav a").count(), 8);
  await page.getByRole("link", { name: "Pairs", exact: true }).click();
  await page.getByRole("link", { name: "All JVMs and windows" }).click();
  await heads().first().waitFor();
});

await check("an application has its windows, and two periods of it are compared", async () => {
  await page.getByRole("link", { name: "Applications", exact: true }).click();
  await heads().filter({ hasText: app }).first().click();
  await page.getByText("All of its windows").waitFor();
  const second = await page.evaluate(async () => (await (await fetch("api/windows?limit=200")).json())[1].started_unix_s);
  const at = new Date(1000 * Math.floor(second)).toLocaleString("sv").replace(" ", "T");

  await page.screenshot({ path: join(directory, "live-apps.png") });
  await page.addScriptTag({ content: AXE });
  const result = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));

  assert.deepEqual(result.violations.filter((v) => ["serious", "critical"].includes(v.impact)).map((v) => `${v.id} ${v.nodes[0].html}`), []);
  await page.getByLabel("before").fill(`1h..${at}`);
  await page.getByLabel("after").fill(`${at}..`);
  await page.getByRole("button", { name: "Compare these periods" }).click();
  await page.waitForSelector("nav a");
  assert.match(await page.locator("nav").innerText(), /What differs/);
  await page.goto(home);
  await page.waitForSelector("nav a");
});

await check("two windows are compared", async () => {
  await page.getByRole("link", { name: "Windows", exact: true }).click();
  await page.getByRole("button", { name: "compare", exact: true }).last().click();
  await page.getByRole("link", { name: /^compare w/ }).last().click();
  await page.waitForSelector("nav a");
  assert.match(await page.locator("nav").innerText(), /What differs/);
});

await browser.close();
process.exitCode = failed ? 1 : 0;
