/* All pairs of a report as one list, in an order and by what somebody looks for. */
import type { Contexts } from "./contexts.ts";
import { KINDS, type KindName, type Pair, type Report } from "./report.ts";
import { longMethod, longPlace, packageOf } from "./text.ts";

export interface PairRow {
  kind: KindName;
  pair: Pair;
  id: string; // kind and place in the list: "dead_store-3"
  text: string; // what is searched, in small letters
  package: string;
}

export type PairOrder = "cpu" | "gain" | "count" | "fraction";

export interface PairFilter {
  query: string;
  kind: string; // "" for all, as the others
  region: string;
  package: string;
  order: PairOrder;
}

export function listPairs(report: Report, contexts: Contexts): PairRow[] {
  const texts = new Map<number, string>();
  const rows: PairRow[] = [];

  /* What a context says, once for all pairs that have it. */
  const textOf = (context: number): string => {
    let text = texts.get(context);

    if (text === undefined) {
      text = contexts
        .path(context)
        .map((id) => {
          const frame = contexts.frame(id);

          return `${longMethod(frame)} ${frame.file}:${frame.line}`;
        })
        .join("\n")
        .toLowerCase();
      texts.set(context, text);
    }
    return text;
  };

  for (const kind of report.inefficiency)
    kind.pairs.forEach((pair, i) => {
      if (!pair || !KINDS.includes(kind.kind)) return;
      rows.push({
        kind: kind.kind,
        pair,
        id: `${kind.kind}-${i + 1}`,
        package: packageOf(contexts.frame(pair.trap.frames).class),
        text: `${longPlace(pair.watch.location)}\n${textOf(pair.watch.frames)}\n${textOf(pair.trap.frames)}`.toLowerCase(),
      });
    });
  return rows;
}

function weight(row: PairRow, order: PairOrder): number {
  switch (order) {
    case "cpu":
      return row.pair.cpu_share ?? row.pair.fraction / 1e3;
    case "gain":
      return row.pair.gain_share ?? 0;
    case "count":
      return row.pair.wasteful_count;
    case "fraction":
      return row.pair.fraction;
  }
}

export function selectPairs(rows: readonly PairRow[], filter: PairFilter): PairRow[] {
  const query = filter.query.trim().toLowerCase();

  return rows
    .filter(
      (row) =>
        (!filter.kind || row.kind === filter.kind) &&
        (!filter.region || row.pair.region === filter.region) &&
        (!filter.package || row.package === filter.package || row.package.startsWith(`${filter.package}.`)) &&
        (!query || row.text.includes(query)),
    )
    .sort((a, b) => weight(b, filter.order) - weight(a, filter.order));
}
