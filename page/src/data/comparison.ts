/* What jxperfctl diff says, schema 2, in the parts that the page shows. */
import type { Interval, KindName } from "./report.ts";
import type { Tree } from "./tree.ts";

export interface Change {
  share: Interval; // in A, in B
  difference: number;
  interval: Interval;
  shown: boolean;
  verdict: "none" | "less" | "more";
}

export interface ChangedRow extends Change {
  what: "method" | "waste";
  method: string;
  kind?: KindName;
  place?: string;
  own_share?: Interval;
  part_of?: number;
  moved?: boolean;
  carried_below?: boolean;
  path?: string[];
  problem: [string | null, string | null];
}

export interface ComparedSide {
  name: string;
  app: string;
  jdk: string;
  start: string;
  windows: number;
  duration_s: number;
  cpu_s: number | null;
  ticks: number | null;
}

export interface Compared {
  headline: string;
  different: boolean;
  a: ComparedSide;
  b: ComparedSide;
  level: number;
  drift: number;
  looked_at: number;
  kinds: ({ kind: KindName } & Change)[];
  rows_total: number;
  rows_omitted: number;
  rows: ChangedRow[];
}

export interface ComparisonDocument {
  schema: number;
  diff: { unit: "cpu" | "bytes"; cpu: Compared | null; bytes: Compared | null };
  tree: Tree;
}
