/* Which nodes access which nodes' memory. */
import { percent, shortClass } from "../data/text.ts";
import type { Site } from "../data/report.ts";
import type { ViewProps } from "../model.ts";
import { FrameList } from "../parts/frames.tsx";
import { Empty } from "../parts/small.tsx";

const SHOWN = 40;

function nodes(list: { node: number; fraction: number }[] | undefined): string {
  return (list ?? []).map((n) => `${percent(n.fraction)} node ${n.node}`).join(", ") || "not known";
}

function SiteOf({ site, model }: { site: Site; model: ViewProps["model"] }) {
  return (
    <details class="row">
      <summary class="row-head">
        <span class="what">
          <code title={site.class}>{shortClass(site.class)}</code>
          <span class="quiet small">accessed from: {nodes(site.numa?.accessed_from)}</span>
          {site.numa?.advice && <span class="small">{site.numa.advice}</span>}
        </span>
        <span>{percent(site.numa?.remote_fraction)} from another node</span>
        <span class="counts">{site.numa?.samples ?? 0} samples</span>
      </summary>
      <div class="row-body">
        <p>
          Allocated on {site.numa?.alloc_node == null ? "a node that is not known" : `node ${site.numa.alloc_node}`}; touched first:{" "}
          {nodes(site.numa?.first_touch)}
        </p>
        <FrameList contexts={model.contexts} ids={model.contexts.path(site.alloc_frames)} />
      </div>
    </details>
  );
}

export function NumaView({ model }: ViewProps) {
  const { numa, objects } = model.report;
  const ids = numa?.node_ids ?? numa?.matrix.map((_, i) => i) ?? [];
  const sites = objects.filter((s) => s?.numa && s.numa.samples > 0).sort((a, b) => b.numa!.samples - a.numa!.samples);

  if (!numa)
    return (
      <Empty>
        Nodes were not looked at: <code>--kinds numa</code>.
      </Empty>
    );
  if (numa.matrix.length === 0) return <Empty>{numa.note ?? "No access was placed on a node in this window."}</Empty>;
  return (
    <>
      <h2>{percent(numa.remote_fraction)} of accesses go to another node's memory</h2>
      <p class="quiet small" id="matrix-is">
        Parts of all accesses: a row is the node that runs the code, a column the memory's. Within a line: a node's own memory.
      </p>
      <div class="scroll">
        <table class="matrix" aria-describedby="matrix-is">
          <thead>
            <tr>
              <th scope="col">from</th>
              {ids.map((id) => (
                <th key={id} scope="col">
                  node {id}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {numa.matrix.map((row, i) => (
              <tr key={i}>
                <th scope="row">node {ids[i]}</th>
                {row.map((part, j) => (
                  <td key={j} style={{ "--part": part }} class={i === j ? "local" : "remote"}>
                    {percent(part)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <h2>By allocation</h2>
      {sites.length === 0 && <Empty>No tracked object was met by these accesses.</Empty>}
      {sites.slice(0, SHOWN).map((site, i) => (
        <SiteOf key={i} site={site} model={model} />
      ))}
    </>
  );
}
