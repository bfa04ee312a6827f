/* The flame graph of a report: by what it is wide, and which way it is read. */
import { useMemo } from "preact/hooks";

import { flameSamples, type FlameCost } from "../data/flame.ts";
import { KINDS, KIND_WORDS } from "../data/report.ts";
import type { ViewProps } from "../model.ts";
import { FlameControls, FlameGraph, shapeOf } from "../parts/flame.tsx";
import { Choice, Empty } from "../parts/small.tsx";

const COSTS: Record<FlameCost, string> = { waste: "Wasteful CPU time", cpu: "CPU time", objects: "Allocated bytes" };
const UNITS: Record<FlameCost, string> = { waste: "of wasteful CPU time", cpu: "of CPU time", objects: "of allocated bytes" };

export function FlameView({ model, address, go }: ViewProps) {
  const { report, contexts } = model;
  const available: FlameCost[] = [];

  if (model.pairs.length > 0) available.push("waste");
  if (report.cpu?.contexts.length) available.push("cpu");
  if (report.objects.length > 0) available.push("objects");
  const cost = available.find((c) => c === address.cost) ?? available[0];
  const samples = useMemo(() => (cost ? flameSamples(report, cost) : []), [report, cost]);

  if (!cost) return <Empty>This window has no calling contexts: it saw no tick, pair or allocation.</Empty>;
  return (
    <>
      <h2 class="unseen">Flame graph</h2>
      <FlameControls contexts={contexts} address={address} go={go}>
        {available.map((c) => (
          <Choice key={c} pressed={c === cost} onPress={() => go({ cost: c, zoom: "" })}>
            {COSTS[c]}
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
        title={COSTS[cost]}
        unit={UNITS[cost]}
        shape={shapeOf(address)}
        pairs
        address={address}
        go={go}
      />
    </>
  );
}
