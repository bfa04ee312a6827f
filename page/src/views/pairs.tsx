/* All pairs: a row is a place in memory and two places in the code. */
import { useMemo } from "preact/hooks";

import { KINDS, KIND_WORDS, type Report } from "../data/report.ts";
import { selectPairs, type PairOrder, type PairRow } from "../data/pairs.ts";
import type { Contexts } from "../data/contexts.ts";
import { count, interval, longMethod, longPlace, percent, shortMethod, shortPlace } from "../data/text.ts";
import type { ViewProps } from "../model.ts";
import { TwoContexts } from "../parts/frames.tsx";
import { Estimate, scaleOf } from "../parts/interval.tsx";
import { List } from "../parts/list.tsx";
import { Choice, CopyButton, Empty } from "../parts/small.tsx";
import { Fold } from "../parts/fold.tsx";

const ROW_HEIGHT = 64;

/* As in the report: pairs of which fewer were wasteful are no evidence of anything. */
const EVIDENCE_MIN = 5;

const ORDERS: Record<PairOrder, string> = {
  cpu: "CPU time",
  gain: "what removing one saves",
  count: "wasteful pairs",
  fraction: "wasteful bytes",
};

function isOrder(name: string): name is PairOrder {
  return Object.hasOwn(ORDERS, name);
}

/* A few lines that fit into a ticket. */
function plainText(row: PairRow, report: Report, contexts: Contexts): string {
  const { pair } = row;
  const words = KIND_WORDS[row.kind];
  const side = (title: string, access: typeof pair.watch, ids: number[]) => [
    `${title}: ${access.instruction}`,
    ...ids.map((id) => {
      const frame = contexts.frame(id);

      return `    at ${longMethod(frame)}(${frame.file}${frame.line > 0 ? `:${frame.line}` : ""})`;
    }),
  ];
  const { own, others, common } = contexts.divide(pair.watch.frames, pair.trap.frames);

  return [
    `${words.title} of ${longPlace(pair.watch.location)}: ${pair.wasteful_count} of ${pair.count} pairs`,
    pair.cpu_share === null
      ? `${percent(pair.fraction)} of checked bytes (${interval(pair.fraction_ci95)})`
      : `${percent(pair.cpu_share)} of CPU time (${interval(pair.cpu_share_ci95)})`,
    ...side(words.watch, pair.watch, own),
    ...side(words.trap, pair.trap, others),
    common.length > 0 ? `both called from:` : "",
    ...common.map((id) => `    at ${longMethod(contexts.frame(id))}`),
    `${report.window.app}, ${report.window.id}, JDK ${report.window.jdk}`,
  ]
    .filter(Boolean)
    .join("\n");
}

function line(contexts: Contexts, context: number): string {
  const frame = contexts.frame(context);

  return `${shortMethod(frame)}${frame.line > 0 ? `:${frame.line}` : ""}`;
}

function Row({ row, model, open, max, onToggle }: { row: PairRow; model: ViewProps["model"]; open: boolean; max: number; onToggle: () => void }) {
  const { pair } = row;
  const { contexts, report } = model;
  const watch = line(contexts, pair.watch.frames), trap = line(contexts, pair.trap.frames);

  return (
    <Fold open={open} onToggle={onToggle} kind={row.kind}
      head={
        <>
          <span class="what">
            <span class="place" title={longPlace(pair.watch.location)}>
              <span class="dot" aria-hidden="true" /> <code>{shortPlace(pair.watch.location)}</code>{" "}
              <span class="quiet small">
                {KIND_WORDS[row.kind].title}
                {pair.region !== "heap" && `, ${pair.region}`}
              </span>
            </span>
            <code class="quiet lines">{watch === trap ? watch : `${watch} → ${trap}`}</code>
          </span>
          {pair.cpu_share === null ? (
            <Estimate value={pair.fraction} ci={pair.fraction_ci95} max={max} kind={row.kind} />
          ) : (
            <Estimate value={pair.cpu_share} ci={pair.cpu_share_ci95} max={max} kind={row.kind} />
          )}
          <span class="counts">
            {count(pair.wasteful_count)} of {count(pair.count)}
          </span>
        </>
      }
    >
      {open && (
        <div class="row-body">
          <TwoContexts kind={row.kind} watch={pair.watch} trap={pair.trap} contexts={contexts} />
          <p class="quiet small">
            {percent(pair.fraction)} of the checked bytes of its kind ({interval(pair.fraction_ci95)})
            {pair.gain_share !== null &&
              ` · removing the access that could go may save up to ${percent(pair.gain_share_ci95?.[1])} of CPU time (estimate ${percent(pair.gain_share)})`}{" "}
            <CopyButton text={plainText(row, report, contexts)}>Copy as text</CopyButton>
          </p>
        </div>
      )}
    </Fold>
  );
}

function packages(rows: readonly PairRow[]): string[] {
  const counts = new Map<string, number>();

  for (const row of rows) counts.set(row.package, (counts.get(row.package) ?? 0) + 1);
  return [...counts.keys()].filter(Boolean).sort();
}

export function Pairs({ model, address, go }: ViewProps) {
  const order = isOrder(address.order) ? address.order : "cpu";
  const { q, kind, region, package: of } = address;
  const found = useMemo(
    () => selectPairs(model.pairs, model.contexts, { query: q, kind, region, package: of, order }),
    [model, q, kind, region, of, order],
  );
  const told = useMemo(() => found.filter((row) => row.pair.wasteful_count >= EVIDENCE_MIN), [found]);
  const folded = !address.few && told.length > 0 && !found.some((row) => row.id === address.open && !told.includes(row));
  const rows = folded ? told : found;
  const all = useMemo(() => packages(model.pairs), [model]);
  const regions = useMemo(() => [...new Set(model.pairs.map((row) => row.pair.region))].sort(), [model]);
  const max = useMemo(() => scaleOf(rows.map((row) => row.pair.cpu_share_ci95 ?? row.pair.fraction_ci95)), [rows]);
  const omitted = model.report.inefficiency.reduce((sum, k) => sum + k.pairs_omitted, 0);
  const toggle = (id: string) => go({ open: address.open === id ? "" : id });

  if (model.pairs.length === 0)
    return (
      <Empty>
        {model.report.inefficiency.length > 0
          ? "No wasteful pair was seen in this window."
          : "No pairs were looked for: --kinds dead-store,silent-store,silent-load."}
      </Empty>
    );
  return (
    <>
      <h2 class="unseen">Pairs</h2>
      <div class="controls">
        <Choice pressed={!kind} onPress={() => go({ kind: "", open: "" })}>
          All kinds
        </Choice>
        {KINDS.filter((k) => model.report.inefficiency.some((i) => i.kind === k)).map((k) => (
          <Choice key={k} pressed={kind === k} onPress={() => go({ kind: k, open: "" })}>
            <span data-kind={k}>
              <span class="dot" aria-hidden="true" /> {KIND_WORDS[k].title}
            </span>
          </Choice>
        ))}
        {regions.length > 1 && (
          <select aria-label="Region" value={region} onChange={(e) => go({ region: e.currentTarget.value, open: "" })}>
            <option value="">all regions</option>
            {regions.map((r) => (
              <option key={r}>{r}</option>
            ))}
          </select>
        )}
        <select aria-label="Package" value={of} onChange={(e) => go({ package: e.currentTarget.value, open: "" })}>
          <option value="">all packages</option>
          {all.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <select aria-label="Order" value={order} onChange={(e) => go({ order: e.currentTarget.value })}>
          {Object.entries(ORDERS).map(([name, words]) => (
            <option key={name} value={name}>
              by {words}
            </option>
          ))}
        </select>
        <span class="quiet" role="status">
          {count(rows.length)} of {count(model.pairs.length)} pairs
          {folded && found.length > told.length && `; ${count(found.length - told.length)} have fewer than five wasteful ones`}
          {omitted > 0 && `; ${count(omitted)} more are not in this page`}
        </span>
        {found.length > told.length && told.length > 0 && (
          <button type="button" class="plain" onClick={() => go({ few: address.few ? "" : "1" })}>
            {folded ? "Show them" : "Fold those with fewer than five"}
          </button>
        )}
      </div>
      {rows.length === 0 ? (
        <Empty>No pair has all of this in it.</Empty>
      ) : (
        <List rows={rows} height={ROW_HEIGHT} keyOf={(row) => row.id} selected={rows.findIndex((row) => row.id === address.open)}>
          {(row) => <Row row={row} model={model} open={row.id === address.open} max={max} onToggle={() => toggle(row.id)} />}
        </List>
      )}
    </>
  );
}
