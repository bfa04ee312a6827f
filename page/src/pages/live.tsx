/* The live page of jxperfctl ui. */
import type { Page } from "../page.ts";
import { Apps } from "../live/apps.tsx";
import { Jvms } from "../live/jvms.tsx";
import { Windows } from "../live/windows.tsx";

export function livePage(): Page {
  return {
    name: "jxperf",
    facts: `live on ${location.host}`,
    title: "jxperf",
    views: [
      { name: "jvms", title: "JVMs", draw: (shown) => <Jvms {...shown} /> },
      { name: "apps", title: "Applications", draw: (shown) => <Apps {...shown} /> },
      { name: "windows", title: "Windows", draw: (shown) => <Windows {...shown} /> },
    ],
  };
}
