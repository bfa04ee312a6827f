/* What the live page asks `jxperfctl ui` for: the JSON of the commands of the same names. */
import type { Inefficiency, Problem } from "../data/report.ts";

export interface Jvm {
  pid: number;
  user: string;
  container: string;
  name: string;
  app: string;
  jdk: string;
  gc: string;
  state: string;
  schedule: string;
}

export interface WindowInfo {
  id: string;
  pid: number;
  app: string;
  state: string; // "running", "done", "ended early"
  reason: string;
  sampler: string;
  started_unix_s: number;
  elapsed_s: number;
  duration_s: number;
  samples: number;
  pairs: number;
  kinds: string[] | null;
  schedule: string | null;
  asked_by: { uid: number; user: string } | null;
}

export interface App {
  app: string;
  jvms: number;
  windows: number;
  last_unix_s: number | null;
  kinds: string[] | null;
}

/* Where more than a thousand have windows, the first of them by name are here. */
export interface Apps {
  apps: App[];
  with_windows: number;
}

/* Of a report, what fits beside a progress bar and into a chart. */
export interface Findings {
  problems: Problem[];
  inefficiency: Inefficiency[];
}

export interface Question {
  pid: number;
  duration: string;
  kinds: string;
  budget: string;
}

async function ask(path: string, parameters: Record<string, string>, method: "GET" | "POST"): Promise<unknown> {
  const response = await fetch(`${path}?${new URLSearchParams(parameters).toString()}`, { method });

  if (response.ok) return response.headers.get("Content-Type") === "application/json" ? response.json().catch(() => null) : response.text();
  throw new Error(((await response.json().catch(() => null)) as { error?: string } | null)?.error ?? `the answer was ${response.status}`);
}

export const api = {
  apps: () => ask("api/apps", {}, "GET") as Promise<Apps>,
  jvms: () => ask("api/jvms", {}, "GET") as Promise<Jvm[]>,
  windows: () => ask("api/windows", { limit: "200" }, "GET") as Promise<WindowInfo[]>,
  findings: (window: string) => ask("api/findings", { window, pairs: "1" }, "GET") as Promise<Findings>,
  attach: ({ pid, duration, kinds, budget }: Question) =>
    ask("api/attach", { pid: String(pid), duration, budget, ...(kinds ? { kinds } : {}) }, "POST") as Promise<{ window: string }>,
  detach: (pid: number) => ask("api/detach", { pid: String(pid) }, "POST"),
};
