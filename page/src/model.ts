/* What views share: the report, and what is made of it once. */
import { Contexts } from "./data/contexts.ts";
import { listPairs, type PairRow } from "./data/pairs.ts";
import type { Report } from "./data/report.ts";
import type { Shown } from "./page.ts";

export interface Model {
  report: Report;
  contexts: Contexts;
  pairs: PairRow[];
}

export function makeModel(report: Report): Model {
  const contexts = new Contexts(report.contexts);

  return { report, contexts, pairs: listPairs(report, contexts) };
}

export interface ViewProps extends Shown {
  model: Model;
}
