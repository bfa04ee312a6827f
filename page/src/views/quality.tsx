/* Whether to trust it: every counter of the window. */
import type { ViewProps } from "../model.ts";
import { count, percent } from "../data/text.ts";
import { queryOf } from "../state.ts";

const FIRST = ["samples", "armed", "traps", "replaced", "expired_gc", "expired_window", "abandoned", "dropped", "ring_full", "names_lost"];

function value(name: string, v: number): string {
  if (name.endsWith("_fraction")) return percent(v);
  if (name.endsWith("_ns")) return `${(v / 1e6).toFixed(1)} ms`;
  if (name.endsWith("_s")) return `${v.toFixed(3)} s`;
  return count(v);
}

export function Quality({ model, address }: ViewProps) {
  const { quality, window: w } = model.report;
  const query = queryOf(address);
  const numbers = Object.entries(quality).filter((e): e is [string, number] => typeof e[1] === "number");
  const order = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  const rows = numbers
    .filter(([name, v]) => (query ? name.includes(query) : v !== 0 || FIRST.includes(name)))
    .sort((a, b) => order(a[0]) - order(b[0]));
  const zero = numbers.length - rows.length;

  return (
    <>
      <h2>The window</h2>
      <dl class="facts-list">
        <dt>State</dt>
        <dd>
          {w.state}
          {w.reason && `: ${w.reason}`}
        </dd>
        <dt>Sampler</dt>
        <dd>
          {w.sampler}
          {w.sampler_reason && `: ${w.sampler_reason}`}
        </dd>
        <dt>Cost</dt>
        <dd>
          {percent(quality.overhead_fraction as number | null | undefined)} of the JVM's CPU time, of {percent(w.budget)} allowed
        </dd>
      </dl>
      <h2>Counters</h2>
      <table class="counters">
        <tbody>
          {rows.map(([name, v]) => (
            <tr key={name}>
              <th scope="row">{name.replaceAll("_", " ")}</th>
              <td>{value(name, v)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="quiet small">
        <code>jxperfctl report {w.id} --view quality</code> says each in a sentence.
      </p>
      {!query && zero > 0 && <p class="quiet small">{zero} more are 0.</p>}
    </>
  );
}
