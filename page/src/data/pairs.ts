/* All pairs of a report as one list, in an order and by what somebody looks for. */
import type { Contexts } from "./contexts.ts";
import { KINDS, type KindName, type Pair, type Report } from "./report.ts";
import { longPlace, packageOf } from "./text.ts";

export interface PairRow {
  kind: KindName;
  pair: Pair;
  id: string; // kind and place in the list: "dead_store-3"
  place: string; // in small letters
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
  const rows: PairRow[] = [];

  for (const kind of report.inefficiency)
    kind.pairs.forEach((pair, i) => {
      if (!pair || !KINDS.includes(kind.kind)) return;
      rows.push({
        kind: kind.kind,
        pair,
        id: `${kind.kind}-${i + 1}`,
        package: packageOf(contexts.frame(pair.trap.frames).class),
        place: longPlace(pair.watch.location).toLowerCase(),
      });
    });
  return rows;
}

/* By what is sure: the lower end of an interval. */
function weight(row: PairRow, order: PairOrder): number {
  switch (order) {
    case "cpu":
      return row.pair.cpu_share_ci95?.[0] ?? row.pair.fraction_ci95[0] / 1e3;
    case "gain":
      return row.pair.gain_share_ci95?.[0] ?? 0;
    case "count":
      return row.pair.wasteful_count;
    case "fraction":
      return row.pair.fraction;
  }
}

/* A search is over places, and over all frames of both contexts. */
export function selectPairs(rows: readonly PairRow[], contexts: Contexts, filter: PairFilter): PairRow[] {
  const query = filter.query.trim().toLowerCase();
  const found = query ? contexts.found(query) : new Uint8Array();

  return rows
    .filter(
      (row) =>
        (!filter.kind || row.kind === filter.kind) &&
        (!filter.region || row.pair.region === filter.region) &&
        (!filter.package || row.package === filter.package || row.package.startsWith(`${filter.package}.`)) &&
        (!query || row.place.includes(query) || found[row.pair.watch.frames] || found[row.pair.trap.frames]),
    )
    .sort((a, b) => weight(b, filter.order) - weight(a, filter.order));
}
