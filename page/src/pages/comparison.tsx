/* Two windows, periods or files: what takes more, what less, and where. */
import type { Change, ChangedRow, Compared, ComparedSide, ComparisonDocument } from "../data/comparison.ts";
import { KIND_WORDS } from "../data/report.ts";
import { contextsOf, splitLabel, treeSamples, type Tree } from "../data/tree.ts";
import { count, percent, points, shortMethod, time } from "../data/text.ts";
import type { Page, Shown } from "../page.ts";
import { FlameControls, FlameGraph, shapeOf } from "../parts/flame.tsx";
import { BeforeAfter } from "../parts/interval.tsx";
import { Choice, Empty, KindMark } from "../parts/small.tsx";
import { Fold } from "../parts/fold.tsx";
import { queryOf } from "../state.ts";

const VERDICTS: Record<Change["verdict"], string> = { none: "no difference shown", less: "▼ less", more: "▲ more" };

function Side({ letter, side }: { letter: string; side: ComparedSide }) {
  return (
    <div class="card">
      <h3>
        {letter}: {side.name}
      </h3>
      <p class="quiet small">
        {side.app} · JDK {side.jdk.split("+")[0]} · {time(side.start)} · {side.windows > 1 ? `${count(side.windows)} windows, ` : ""}
        {Math.round(side.duration_s)} s{side.cpu_s !== null && `, ${side.cpu_s.toFixed(1)} s of CPU time`}
        {side.ticks !== null && `, ${count(side.ticks)} ticks`}
      </p>
    </div>
  );
}

function nameOf(row: ChangedRow): string {
  return shortMethod(splitLabel(row.method));
}

function Row({ row, max, open, onToggle }: { row: ChangedRow; max: number; open: boolean; onToggle: () => void }) {
  return (
    <Fold open={open} onToggle={onToggle} kind={row.kind}
      head={
        <>
          <span class="what">
            <code title={row.method}>{nameOf(row)}</code>
            <span class="quiet small">
              {row.kind ? (
                <>
                  <KindMark kind={row.kind} /> {row.place}
                </>
              ) : (
                "with all that it calls"
              )}
              {row.moved && " · moved within its caller"}
              {row.carried_below && " · carried by what it calls"}
            </span>
          </span>
          <BeforeAfter change={row} max={max} />
          <span class="counts">{VERDICTS[row.verdict]}</span>
        </>
      }
    >
      {open && (
        <div class="row-body">
          <p>
            {percent(row.share[0])} before, {percent(row.share[1])} after: {points(row.difference)} points, {points(row.interval[0])} to{" "}
            {points(row.interval[1])}
          </p>
          {row.own_share && (
            <p class="quiet small">
              by itself: {percent(row.own_share[0])} before, {percent(row.own_share[1])} after
            </p>
          )}
          {row.problem.map((text, i) => text && <p key={i}>{`${i === 0 ? "Before" : "After"}: ${text}`}</p>)}
          {row.path && row.path.length > 0 && (
            <>
              <h4>Most of it is called by</h4>
              <ol class="frames">
                {row.path.map((label, i) => (
                  <li key={i} title={label}>
                    <code>{shortMethod(splitLabel(label))}</code>
                  </li>
                ))}
              </ol>
            </>
          )}
        </div>
      )}
    </Fold>
  );
}

function Differences({ compared: c, unit, address, go }: Shown & { compared: Compared; unit: string }) {
  const query = queryOf(address);
  const found = c.rows.filter((row) => !query || `${row.method} ${row.place ?? ""}`.toLowerCase().includes(query));
  const shown = found.filter((row) => row.shown && row.part_of === undefined), rest = found.filter((row) => !shown.includes(row));
  const max = Math.max(...found.map((row) => Math.max(...row.share)), 1e-6);
  const rows = (list: ChangedRow[]) =>
    list.map((row) => {
      const id = `row-${c.rows.indexOf(row) + 1}`;

      return <Row key={id} row={row} max={max} open={address.open === id} onToggle={() => go({ open: address.open === id ? "" : id })} />;
    });

  return (
    <>
      <h2>{c.headline}</h2>
      <div class="kinds">
        <Side letter="A, before" side={c.a} />
        <Side letter="B, after" side={c.b} />
      </div>
      <h2>Waste, in parts of {unit}</h2>
      {c.kinds.length === 0 && <Empty>Neither side looked for pairs.</Empty>}
      <div class="kinds">
        {c.kinds.map((kind) => (
          <div key={kind.kind} class="card" data-kind={kind.kind}>
            <h3>
              <span class="dot" aria-hidden="true" /> {KIND_WORDS[kind.kind].title}
            </h3>
            <BeforeAfter change={kind} max={Math.max(...c.kinds.map((k) => Math.max(...k.share)), 1e-6)} />
            <p class="quiet small">{VERDICTS[kind.verdict]}</p>
          </div>
        ))}
      </div>
      <h2>What is shown to differ</h2>
      {shown.length === 0 ? <Empty>Nothing{query && ` with "${address.q}" in its name`}: every interval has 0 in it.</Empty> : rows(shown)}
      <details class="more" open={shown.length === 0 && query !== ""}>
        <summary>{count(rest.length)} more: parts of these, and what is not shown to differ</summary>
        {rows(rest)}
      </details>
      <p class="quiet small">
        {count(c.looked_at)} methods, places and kinds were compared; all intervals are right together in {percent(1 - c.level)} of comparisons.
        Shares of one program are taken to vary by {percent(c.drift)} of themselves between windows.
      </p>
    </>
  );
}

/*
 * Costs as parts of each side's own whole, since windows are not equally long; without the compilers' threads, which take
 * more or less by how long a program has run.
 */
function partsOf(tree: Tree): Tree {
  const left = tree.methods.indexOf("[compilers]") + 1;

  return {
    ...tree,
    costs: tree.costs.map((column) => {
      const costs = column.map((cost, i) => (left && tree.method[i] === left ? 0 : cost));
      const whole = costs.reduce((sum, cost) => sum + cost, 0) || 1;

      return costs.map((cost) => cost / whole);
    }),
  };
}

export function comparisonPage(document: ComparisonDocument): Page {
  const compared = (document.diff.cpu ?? document.diff.bytes)!;
  const unit = document.diff.unit === "cpu" ? "CPU time" : "checked bytes";
  const contexts = contextsOf(document.tree);
  const parts = partsOf(document.tree);
  const samples = [treeSamples(parts, 0, 1), treeSamples(parts, 1, 0)];

  return {
    name: `${compared.a.name} and ${compared.b.name}`,
    facts: `what differs between two windows of ${compared.b.app || compared.a.app}`,
    title: `${compared.a.name} and ${compared.b.name}`,
    views: [
      { name: "differences", title: "What differs", draw: (shown) => <Differences compared={compared} unit={unit} {...shown} /> },
      {
        name: "flame",
        title: "Flame graph",
        draw: ({ address, go }) => {
          const before = address.cost === "before";

          return (
            <>
              <h2 class="unseen">Flame graph</h2>
              <FlameControls contexts={contexts} address={address} go={go}>
                <Choice pressed={!before} onPress={() => go({ cost: "after", zoom: "" })}>
                  After
                </Choice>
                <Choice pressed={before} onPress={() => go({ cost: "before", zoom: "" })}>
                  Before, with what vanished
                </Choice>
              </FlameControls>
              <FlameGraph
                contexts={contexts}
                samples={samples[before ? 0 : 1]!}
                ink={before ? "before" : "after"}
                title={before ? "Before; ▼ what takes less now" : "After; ▲ what takes more than before"}
                unit={`of ${unit}`}
                shape={shapeOf(address)}
                address={address}
                go={go}
              />
            </>
          );
        },
      },
    ],
  };
}
