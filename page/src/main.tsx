/* Starts the page on the data that is in it. */
import { render } from "preact";

import { App } from "./app.tsx";
import { unpack } from "./data/report.ts";
import { makeModel } from "./model.ts";

async function start(): Promise<void> {
  const data = document.getElementById("report")?.textContent?.trim() ?? "";
  const body = document.getElementById("page")!;

  if (!data) {
    body.textContent = "This page has no report in it: jxperfctl report WINDOW --format html -o FILE writes one that has.";
    return;
  }
  try {
    const model = makeModel(await unpack(data));

    body.textContent = "";
    render(<App model={model} />, body);
    performance.mark("drawn");
  } catch (error) {
    body.textContent = `The report in this page cannot be read: ${String(error)}. Write it again, or open it in a browser from after 2023.`;
  }
}

void start();
