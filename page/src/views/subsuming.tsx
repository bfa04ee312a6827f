/* Subsuming methods: those whose calls explain the time of what they call. */
import type { SubsumingMethods } from "../data/report.ts";
import type { Shown } from "../page.ts";
import { longMethod, percent, shortMethod, count } from "../data/text.ts";
import { Estimate, scaleOf } from "../parts/interval.tsx";
import { Empty } from "../parts/small.tsx";
import { Fold } from "../parts/fold.tsx";
import { queryOf } from "../state.ts";

export function SubsumingView({ subsuming: s, address, go }: Shown & { subsuming: SubsumingMethods | null }) {
  const query = queryOf(address);
  const rows = (s?.by_induced ?? []).filter((m) => !query || longMethod(m).toLowerCase().includes(query));
  /* The root is all that no other subsumes: the largest, and of no use as a scale. */
  const max = scaleOf(rows.filter((m) => m.class).map((m) => m.induced_fraction_ci95));

  if (!s)
    return (
      <Empty>
        There are none without CPU time: <code>--kinds cpu</code>.
      </Empty>
    );
  return (
    <>
      <h2>Methods that subsume others, by the cost that they induce</h2>
      <p class="quiet small">
        A method subsumes what it calls where that is called in the same way nearly always: its induced cost is what a change of it may
        change. {percent(s.coverage)} of {count(s.total)} {s.unit} are below one of these.
      </p>
      {rows.length === 0 && <Empty>None has "{address.q}" in its name.</Empty>}
      {rows.map((m, i) => {
        const id = `subsuming-${i + 1}`;
        const open = address.open === id;

        return (
          <Fold key={id} open={open} onToggle={() => go({ open: open ? "" : id })}
            head={
              <>
                <span class="what">
                  <code title={longMethod(m)}>{m.class ? shortMethod(m) : m.method}</code>
                  <span class="quiet small">
                    {m.dominator ? `below ${shortMethod(m.dominator)}` : "below the root"}, {percent(m.exclusive_fraction)} by itself
                  </span>
                </span>
                <Estimate value={m.induced_fraction} ci={m.induced_fraction_ci95} max={max} />
                <span class="counts">{percent(m.inclusive_fraction)} with all</span>
              </>
            }
          >
            {open && (
              <div class="row-body sides">
                <section class="side">
                  <h4>Where its cost is</h4>
                  <ul class="frames">
                    {m.pattern.map((p, j) => (
                      <li key={j} title={longMethod(p)}>
                        <code>{shortMethod(p)}</code> <span class="quiet">{percent(p.fraction)}</span>
                      </li>
                    ))}
                  </ul>
                </section>
                <section class="side">
                  <h4>Who calls it</h4>
                  <ul class="frames">
                    {m.callers.map((p, j) => (
                      <li key={j} title={longMethod(p)}>
                        <code>{shortMethod(p)}</code> <span class="quiet">{percent(p.fraction)}</span>
                      </li>
                    ))}
                  </ul>
                </section>
              </div>
            )}
          </Fold>
        );
      })}
    </>
  );
}
