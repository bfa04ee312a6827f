/* The live page of jxperfctl ui. */
import type { Page } from "../page.ts";
import { Jvms } from "../live/jvms.tsx";
import { Windows } from "../live/windows.tsx";

export function livePage(): Page {
  return {
    name: "jxperf",
    facts: `live on ${location.host}`,
    title: "jxperf",
    views: [
      { name: "jvms", title: "JVMs", draw: (shown) => <Jvms {...shown} /> },
      { name: "windows", title: "Windows", draw: (shown) => <Windows {...shown} /> },
    ],
  };
}
