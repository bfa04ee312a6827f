/* The hottest loops: what they do in vain, and what to do. */
import { type Loop } from "../data/report.ts";
import { count, interval, percent, shortMethod } from "../data/text.ts";
import type { ViewProps } from "../model.ts";
import { FrameList } from "../parts/frames.tsx";
import { Estimate, scaleOf } from "../parts/interval.tsx";
import { Empty, KindMark } from "../parts/small.tsx";
import { Fold } from "../parts/fold.tsx";
import { queryOf } from "../state.ts";

const VERDICTS: Record<string, string> = {
  resultless: "most of its turns have no result",
  redundant_instances: "its instances do the same again",
  redundant_iterations: "its turns do the same again",
  none: "nothing was found",
  waiting: "it waits for another thread",
  undecided: "not decided: too little was seen of it",
};

function advice(loop: Loop): string[] {
  return (loop.advice ?? []).map((a) => (typeof a === "string" ? a : [a.strategy, a.why].filter(Boolean).join(": ")));
}

function Body({ loop, model }: { loop: Loop; model: ViewProps["model"] }) {
  return (
    <div class="row-body">
      <dl class="facts-list">
        {loop.type && (
          <>
            <dt>Type</dt>
            <dd>{loop.type}</dd>
          </>
        )}
        {loop.iterations_per_instance != null && (
          <>
            <dt>Turns of an instance</dt>
            <dd>
              {count(loop.iterations_per_instance)}
              {loop.iterations_per_instance_ci95 && (
                <span class="quiet">
                  {" "}
                  ({count(loop.iterations_per_instance_ci95[0])} to {count(loop.iterations_per_instance_ci95[1])})
                </span>
              )}
            </dd>
          </>
        )}
        {loop.result_rate != null && (
          <>
            <dt>Turns with a result</dt>
            <dd>
              {percent(loop.result_rate)} <span class="quiet">{interval(loop.result_rate_ci95)}</span>
            </dd>
          </>
        )}
        <dt>With all that it calls</dt>
        <dd>{percent(loop.inclusive_fraction)} of CPU time</dd>
        {advice(loop).map((text) => (
          <>
            <dt>What helps</dt>
            <dd>{text.replaceAll("_", " ")}</dd>
          </>
        ))}
        {loop.unsure.length > 0 && (
          <>
            <dt>Not certain</dt>
            <dd>{loop.unsure.join(", ").replaceAll("_", " ")}</dd>
          </>
        )}
        {loop.pairs?.map((pair) => (
          <>
            <dt>
              <KindMark kind={pair.kind} />
            </dt>
            <dd>
              {percent(pair.fraction)} <span class="quiet">({interval(pair.fraction_ci95)})</span>, {pair.wasteful_count} of {pair.count} pairs
            </dd>
          </>
        ))}
      </dl>
      {loop.contexts.filter(Boolean).map((context, i) => (
        <details key={i} class="path">
          <summary>{percent(context.fraction)} of CPU time, called from here</summary>
          <FrameList contexts={model.contexts} ids={model.contexts.path(context.frames)} />
        </details>
      ))}
    </div>
  );
}

export function Loops({ model, address, go }: ViewProps) {
  const loops = (model.report.loops ?? []).filter(Boolean);
  const query = queryOf(address);
  const shown = loops.filter((l) => !query || `${l.class}.${l.method} ${l.file}`.toLowerCase().includes(query));
  const max = scaleOf(shown.map((l) => l.time_ci95));

  if (!model.report.loops)
    return (
      <Empty>
        No loops were looked for: <code>--kinds loops</code>.
      </Empty>
    );
  if (shown.length === 0) return <Empty>{query ? `No loop is in a method with "${address.q}" in its name.` : "No hot loop was seen in compiled code."}</Empty>;
  return (
    <>
      <h2>Loops, by their own CPU time</h2>
      {shown.map((loop) => {
        const id = `loop-${loops.indexOf(loop) + 1}`;
        const open = address.open === id;

        return (
          <Fold key={id} open={open} onToggle={() => go({ open: open ? "" : id })}
            head={
              <>
                <span class="what">
                  <code title={`${loop.class}.${loop.method}`}>
                    {shortMethod(loop)}
                    {loop.mapped && loop.line > 0 && `:${loop.line}`}
                  </code>
                  <span class="quiet small">
                    {loop.verdict ? VERDICTS[loop.verdict] ?? loop.verdict : "not looked into: less than 2% of CPU time"}
                    {loop.needs_s !== undefined && `; a window of ${count(loop.needs_s)} s might tell`}
                  </span>
                </span>
                <Estimate value={loop.time_fraction} ci={loop.time_ci95} max={max} />
                <span class="counts">{count(loop.ticks)} ticks</span>
              </>
            }
          >
            {open && <Body loop={loop} model={model} />}
          </Fold>
        );
      })}
    </>
  );
}
