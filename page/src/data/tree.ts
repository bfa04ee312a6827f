/*
 * A tree of methods with costs, as diff and subsume write it (docs/page.md). Numbers are like those of contexts; names are
 * labels, "java.util.HashMap.get(Ljava/lang/Object;)".
 */
import { Contexts } from "./contexts.ts";
import type { FlameSample } from "./flame.ts";
import type { Method } from "./report.ts";

export interface Tree {
  methods: string[];
  parent: number[];
  method: number[];
  costs: number[][];
}

/* The class ends at the last dot before the arguments. */
export function splitLabel(label: string): Method {
  const end = label.indexOf("(");
  const dot = label.lastIndexOf(".", end < 0 ? label.length : end);

  return dot > 0 ? { class: label.slice(0, dot), method: label.slice(dot + 1) } : { class: "", method: label };
}

export function contextsOf(tree: Tree): Contexts {
  const none = new Array<number>(tree.parent.length).fill(-1);

  return new Contexts({
    methods: tree.methods.map((label) => {
      const { class: of, method } = splitLabel(label);

      return [of, method, ""];
    }),
    parent: tree.parent,
    method: tree.method,
    line: none,
    bci: none,
    tier: [],
  });
}

/* Of one column of costs, and of another one as a layer, in parts of what whole says. */
export function treeSamples(tree: Tree, column: number, other?: number): FlameSample[] {
  const widths = tree.costs[column] ?? [];

  return widths.map((width, i) => ({
    context: i + 1,
    width,
    ...(other === undefined ? {} : { layer: { number: 0, value: tree.costs[other]?.[i] ?? 0 } }),
  }));
}
