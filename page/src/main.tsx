/* Starts the page on the data that is in it. */
import { render } from "preact";

import { App } from "./app.tsx";
import type { ComparisonDocument } from "./data/comparison.ts";
import { unpack } from "./data/document.ts";
import type { Report } from "./data/report.ts";
import type { Page } from "./page.ts";
import { comparisonPage } from "./pages/comparison.tsx";
import { livePage } from "./pages/live.tsx";
import { profilePage, type ProfileDocument } from "./pages/profile.tsx";
import { reportPage } from "./pages/report.tsx";

/* By what only one kind of document has. */
function pageOf(document: object): Page {
  if ("live" in document) return livePage();
  if ("diff" in document) return comparisonPage(document as ComparisonDocument);
  if ("tree" in document) return profilePage(document as ProfileDocument);
  return reportPage(document as Report);
}


async function start(): Promise<void> {
  const data = document.getElementById("report")?.textContent?.trim() ?? "";
  const body = document.getElementById("page")!;

  if (!data) {
    body.textContent = "This page has no report in it: jxperfctl report WINDOW --format html -o FILE writes one that has.";
    return;
  }
  try {
    const page = pageOf((await unpack(data)) as object);

    body.textContent = "";
    render(<App page={page} />, body);
    performance.mark("drawn");
  } catch (error) {
    body.textContent = `The report in this page cannot be read: ${String(error)}. Write it again, or open it in a browser from after 2023.`;
  }
}

void start();
