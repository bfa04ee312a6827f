/* The report of a window, or of several that were merged. */
import type { Report } from "../data/report.ts";
import { count, time } from "../data/text.ts";
import { makeModel, type ViewProps } from "../model.ts";
import type { Page } from "../page.ts";
import { Change } from "../views/change.tsx";
import { FlameView } from "../views/flame.tsx";
import { Loops } from "../views/loops.tsx";
import { NumaView } from "../views/numa.tsx";
import { Objects } from "../views/objects.tsx";
import { Pairs } from "../views/pairs.tsx";
import { Quality } from "../views/quality.tsx";
import { SubsumingView } from "../views/subsuming.tsx";

const VIEWS: [string, string, (props: ViewProps) => preact.JSX.Element][] = [
  ["change", "What to change", Change],
  ["pairs", "Pairs", Pairs],
  ["objects", "Fields and objects", Objects],
  ["flame", "Flame graph", FlameView],
  ["loops", "Loops", Loops],
  ["numa", "NUMA", NumaView],
  ["subsuming", "Subsuming methods", ({ model, ...shown }) => <SubsumingView subsuming={model.report.subsuming} {...shown} />],
  ["quality", "Quality", Quality],
];

/* Where a view of the text report has another name, or it is another format. */
const OPTIONS: Record<string, string> = { change: "", flame: " --format collapsed" };

export function reportPage(report: Report): Page {
  const model = makeModel(report);
  const { window: w } = report;
  const what = w.merged ? `${count(w.merged.windows)} windows of ${count(w.merged.processes)} processes` : `pid ${w.pid}`;
  const end = w.state === "done" ? "" : ` · ${w.state.replaceAll("_", " ")}${w.reason ? `: ${w.reason}` : ""}`;

  return {
    name: w.app || "a JVM without a name",
    facts: `${what} · JDK ${w.jdk.split("+")[0]}, ${w.gc} · ${time(w.start)}, ${Math.round(w.duration_s)} s${end}`,
    title: `${w.app} ${w.id}`,
    views: VIEWS.map(([name, title, Draw]) => ({
      name,
      title,
      draw: (shown) => <Draw model={model} {...shown} />,
      command: `jxperfctl report ${w.merged ? `--app ${w.app}` : w.id}${OPTIONS[name] ?? ` --view ${name}`}`,
    })),
  };
}
