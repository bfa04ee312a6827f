/* Applications: their JVMs and windows, and two periods of one compared. */
import { count, time } from "../data/text.ts";
import { Fold } from "../parts/fold.tsx";
import { Empty } from "../parts/small.tsx";
import type { Shown } from "../page.ts";
import { linkTo, queryOf } from "../state.ts";
import { api, type App, type Jvm, type WindowInfo } from "./api.ts";
import { usePolled } from "./poll.ts";

const LOOK_MS = 5000;
const WINDOWS = 5;

/* Times are as jxperfctl takes them. */
function Periods({ app }: { app: string }) {
  return (
    <form class="controls" action="periods" method="get" aria-label={`Two periods of ${app}`}>
      <input type="hidden" name="app" value={app} />
      <label>
        before <input name="a" value="2h..1h" required size={14} />
      </label>
      <label>
        after <input name="b" value="1h.." required size={14} />
      </label>
      <button type="submit">Compare these periods</button>
      <span class="quiet small">so long ago, or 2026-11-22T03:00..2026-11-22T05:00</span>
    </form>
  );
}

function Jvms({ jvms }: { jvms: Jvm[] }) {
  if (jvms.length === 0) return <p class="quiet small">No JVM of it runs now.</p>;
  return (
    <ul class="small">
      {jvms.map((jvm) => (
        <li key={jvm.pid}>
          pid {jvm.pid} of {jvm.user}, {jvm.state}
          {jvm.schedule && `, schedule ${jvm.schedule}`}
        </li>
      ))}
    </ul>
  );
}

function Last({ windows, link }: { windows: WindowInfo[]; link: string }) {
  return (
    <ul class="small">
      {windows.slice(-WINDOWS).reverse().map((w) => (
        <li key={w.id}>
          <a href={`window?window=${encodeURIComponent(w.id)}`}>{w.id}</a>, {w.schedule ? `schedule ${w.schedule}` : (w.asked_by?.user ?? "")}
          {w.kinds && `, ${w.kinds.join(", ")}`}
        </li>
      ))}
      {windows.length > 0 && (
        <li>
          <a href={link}>All of its windows</a>
        </li>
      )}
    </ul>
  );
}

export function Apps({ address, go }: Shown) {
  const apps = usePolled(api.apps, LOOK_MS, []);
  const jvms = usePolled(api.jvms, LOOK_MS, []);
  const windows = usePolled(api.windows, LOOK_MS, []);
  const query = queryOf(address);
  const shown = (apps.value?.apps ?? []).filter((app: App) => !query || app.app.toLowerCase().includes(query));

  if (apps.error) return <Empty>{apps.error}</Empty>;
  if (apps.value && shown.length === 0) return <Empty>{query ? `No application has "${address.q}" in its name.` : "There is no application yet."}</Empty>;
  return (
    <>
      <h2 class="unseen">Applications</h2>
      {apps.value && apps.value.apps.filter((app) => app.windows > 0).length < apps.value.with_windows && (
        <p class="quiet small">{count(apps.value.with_windows)} applications have windows. The first of them by name are shown.</p>
      )}
      {shown.map((app) => (
        <Fold
          key={app.app}
          open={address.open === `app-${app.app}`}
          onToggle={() => go({ open: address.open === `app-${app.app}` ? "" : `app-${app.app}` })}
          head={
            <>
              <span class="what">
                <code>{app.app || "without a name"}</code>
                <span class="quiet small">{app.kinds?.join(", ")}</span>
              </span>
              <span>
                {count(app.windows)} {app.windows === 1 ? "window" : "windows"}
                {app.last_unix_s !== null && `, the last ${time(new Date(app.last_unix_s * 1000).toISOString())}`}
              </span>
              <span class="counts">
                {count(app.jvms)} {app.jvms === 1 ? "JVM" : "JVMs"}
              </span>
            </>
          }
        >
          {address.open === `app-${app.app}` && (
            <div class="row-body">
              <Jvms jvms={(jvms.value ?? []).filter((j) => j.app === app.app)} />
              <Last
                windows={(windows.value ?? []).filter((w) => w.app === app.app && w.state !== "running")}
                link={linkTo(address, { view: "windows", focus: app.app })}
              />
              {app.windows > 1 && <Periods app={app.app} />}
            </div>
          )}
        </Fold>
      ))}
    </>
  );
}
