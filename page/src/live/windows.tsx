/* Windows over time: each application's, as a chart and a list, and two of them compared. */
import { useEffect, useState } from "preact/hooks";

import { count, time } from "../data/text.ts";
import type { Shown } from "../page.ts";
import { Choice, Empty } from "../parts/small.tsx";
import { api, type Findings, type WindowInfo } from "./api.ts";
import { Chart, type Measured } from "./chart.tsx";
import { usePolled } from "./poll.ts";
import { queryOf } from "../state.ts";

const LOOK_MS = 5000;
const CHARTED = 16;

/* What each window found, which does not change once it is over. */
const known = new Map<string, Findings>();

/* Asks for one window after the other: the daemon has other work, too. */
function useMeasured(windows: WindowInfo[]): Measured[] {
  const [, draw] = useState(0);
  const ids = windows.map((w) => w.id).join(" ");

  useEffect(() => {
    let left = false;

    void (async () => {
      for (const w of windows) {
        if (left) return;
        if (known.has(w.id)) continue;
        try {
          known.set(w.id, await api.findings(w.id));
          draw((n) => n + 1);
        } catch {
          /* It is kept no longer, or cannot be had now: it is asked for again with the next window. */
        }
      }
    })();
    return () => {
      left = true;
    };
  }, [ids]);
  return windows.flatMap((window) => {
    const findings = known.get(window.id);

    return findings ? [{ window, findings }] : [];
  });
}

export function Windows({ address, go }: Shown) {
  const windows = usePolled(api.windows, LOOK_MS, []);
  const [compared, compare] = useState("");
  const done = (windows.value ?? []).filter((w) => w.state !== "running");
  const apps = [...new Set(done.map((w) => w.app))].sort();
  const app = apps.find((a) => a === address.focus) ?? done[done.length - 1]?.app ?? "";
  const query = queryOf(address);
  const shown = done.filter((w) => w.app === app && (!query || `${w.id} ${w.state} ${w.reason}`.toLowerCase().includes(query)));
  const measured = useMeasured(shown.slice(-CHARTED));

  if (windows.error) return <Empty>{windows.error}</Empty>;
  if (windows.value && done.length === 0) return <Empty>No window is over yet: start one in a JVM.</Empty>;
  return (
    <>
      <h2 class="unseen">Windows</h2>
      <div class="controls">
        {apps.map((name) => (
          <Choice key={name} pressed={name === app} onPress={() => go({ focus: name })}>
            {name || "without a name"}
          </Choice>
        ))}
      </div>
      {measured.length > 0 && <Chart measured={measured} />}
      <h2>
        {count(shown.length)} {shown.length === 1 ? "window" : "windows"} of {app}
      </h2>
      {[...shown].reverse().map((w) => (
        <article key={w.id} class="row">
          <div class="row-head">
            <span class="what">
              <a href={`window?window=${encodeURIComponent(w.id)}`}>{w.id}</a>
              <span class="quiet small">
                {time(new Date(w.started_unix_s * 1000).toISOString())}, {Math.round(w.elapsed_s)} s, pid {w.pid}
                {w.state !== "done" && `, ${w.state}${w.reason ? `: ${w.reason}` : ""}`}
              </span>
            </span>
            <span>{count(w.samples)} sampled accesses</span>
            <span class="counts">
              {compared && compared !== w.id ? (
                <a href={`compare?a=${encodeURIComponent(compared)}&b=${encodeURIComponent(w.id)}`}>compare {compared} with this</a>
              ) : (
                <button type="button" class="plain" aria-pressed={compared === w.id} onClick={() => compare(compared === w.id ? "" : w.id)}>
                  {compared === w.id ? "before: choose another" : "compare"}
                </button>
              )}
            </span>
          </div>
        </article>
      ))}
    </>
  );
}
