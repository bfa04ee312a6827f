/* The flame graph of a report: by what it is wide, and which way it is read. */
import { useMemo } from "preact/hooks";

import { flameSamples, knowsCpuTime, type FlameCost } from "../data/flame.ts";
import { KINDS, KIND_WORDS } from "../data/report.ts";
import type { ViewProps } from "../model.ts";
import { FlameControls, FlameGraph, shapeOf } from "../parts/flame.tsx";
import { Choice, Empty } from "../parts/small.tsx";

const COSTS: Record<FlameCost, string> = { waste: "Wasteful CPU time", cpu: "CPU time", objects: "Allocated bytes" };
const UNITS: Record<FlameCost, string> = { waste: "of wasteful CPU time", cpu: "of CPU time", objects: "of allocated bytes" };

const WASTEFUL_BYTES = "Wasteful bytes";

export function FlameView({ model, address, go }: ViewProps) {
  const { report, contexts } = model;
  const available: FlameCost[] = [];

  if (model.pairs.length > 0) available.push("waste");
  if (report.cpu?.contexts.length) available.push("cpu");
  if (report.objects.length > 0) available.push("objects");
  const cost = available.find((c) => c === address.cost) ?? available[0];
  const samples = useMemo(() => (cost ? flameSamples(report, cost) : []), [report, cost]);

  /* Hardware samplers count accesses, not time. */
  const bytes = cost === "waste" && !knowsCpuTime(report);

  if (!cost) return <Empty>This window has no calling contexts: it saw no tick, pair or allocation.</Empty>;
  return (
    <>
      <h2 class="unseen">Flame graph</h2>
      <FlameControls contexts={contexts} address={address} go={go}>
        {available.map((c) => (
          <Choice key={c} pressed={c === cost} onPress={() => go({ cost: c, zoom: "" })}>
            {c === "waste" && !knowsCpuTime(report) ? WASTEFUL_BYTES : COSTS[c]}
          </Choice>
        ))}
      </FlameControls>
      {cost !== "objects" && (
        <p class="legend small">
          {KINDS.map((kind) => (
            <span key={kind} class="kind" data-kind={kind}>
              <span class="dot" aria-hidden="true" /> {KIND_WORDS[kind].title.toLowerCase()}
            </span>
          ))}
        </p>
      )}
      <FlameGraph
        contexts={contexts}
        samples={samples}
        ink={cost === "objects" ? "none" : "kinds"}
        title={bytes ? WASTEFUL_BYTES : COSTS[cost]}
        unit={bytes ? "of wasteful bytes" : UNITS[cost]}
        shape={shapeOf(address)}
        pairs
        address={address}
        go={go}
      />
    </>
  );
}
