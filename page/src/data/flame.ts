/*
 * Flame graphs: costs of calling contexts, added up along the tree, in typed arrays. A context's frames are methods
 * here; lines and bytecodes of one method under one caller are one frame.
 */
import type { Contexts } from "./contexts.ts";
import { KINDS, type Report } from "./report.ts";

export type FlameCost = "waste" | "cpu" | "objects";

/* A cost of one context: how wide it is, and how much of another layer lies there: of a kind of waste, of another side. */
export interface FlameSample {
  context: number;
  width: number;
  layer?: { number: number; value: number };
}

/* Nodes by number; 0 is the root, and parents are below their children. */
export interface Flame {
  count: number;
  total: number;
  parent: Uint32Array;
  method: Uint32Array;
  depth: Uint16Array;
  width: Float64Array; // with all that it calls
  own: Float64Array;
  layers: Float64Array[]; // each with all that it calls
  left: Float64Array; // of its own, in the unit of width
  children: Uint32Array[]; // by name
}

/* Is it known what wasteful accesses take of CPU time? Else their bytes are what there is. */
export function knowsCpuTime(report: Report): boolean {
  return report.inefficiency.some((kind) => kind.pairs.some((pair) => pair && pair.cpu_share !== null));
}

/* The samples of a report. Of a pair it is the access that could go: an unread store, the second of two others. */
export function flameSamples(report: Report, cost: FlameCost): FlameSample[] {
  const samples: FlameSample[] = [];

  const byTime = knowsCpuTime(report);

  if (cost === "objects") return report.objects.map((site) => ({ context: site.alloc_frames, width: site.alloc_bytes }));
  if (cost === "cpu")
    for (const context of report.cpu?.contexts ?? []) if (context) samples.push({ context: context.frames, width: context.fraction });
  for (const kind of report.inefficiency)
    for (const pair of kind.pairs) {
      if (!pair) continue;
      const value = byTime ? (pair.cpu_share ?? 0) : pair.wasteful_bytes;

      if (cost === "cpu" && !byTime) continue;
      samples.push({
        context: (kind.kind === "dead_store" ? pair.watch : pair.trap).frames,
        width: cost === "waste" ? value : 0,
        layer: { number: KINDS.indexOf(kind.kind), value },
      });
    }
  return samples;
}

/* Which way a path of methods is read, and from where. */
export type FlameShape =
  | { as: "callees" }
  | { as: "callers" } // inverted: leaves at the root
  | { as: "callees-of" | "callers-of"; method: number }; // a sandwich's halves

class Growing {
  private readonly found = new Map<number, number>();
  readonly parents = [0];
  readonly methods = [0];
  private readonly stride: number;

  constructor(stride: number) {
    this.stride = stride;
  }

  child(parent: number, method: number): number {
    const key = parent * this.stride + method;
    let node = this.found.get(key);

    if (node === undefined) {
      node = this.parents.length;
      this.found.set(key, node);
      this.parents.push(parent);
      this.methods.push(method);
    }
    return node;
  }
}

/* The methods of a sample in the order in which they are drawn from the root; null for one that has no place. */
function drawn(contexts: Contexts, context: number, shape: FlameShape): number[] | null {
  const leafFirst = contexts.path(context).map((id) => contexts.method[id] ?? 0);

  switch (shape.as) {
    case "callees":
      return leafFirst.reverse();
    case "callers":
      return leafFirst;
    case "callees-of": {
      const at = leafFirst.lastIndexOf(shape.method);

      return at < 0 ? null : leafFirst.slice(0, at + 1).reverse();
    }
    case "callers-of": {
      const at = leafFirst.lastIndexOf(shape.method);

      return at < 0 ? null : leafFirst.slice(at);
    }
  }
}

export function buildFlame(contexts: Contexts, samples: readonly FlameSample[], shape: FlameShape, layers = KINDS.length): Flame {
  const growing = new Growing(contexts.methodCount + 1);
  const plain = shape.as === "callees";
  /* Of a whole tree each context has one node, which its children's start from. */
  const nodeOf = new Uint32Array(contexts.count + 1);
  const leaf = new Uint32Array(samples.length);

  const nodeOfContext = (context: number): number => {
    if (!context) return 0;
    const path = contexts.path(context);
    let start = path.findIndex((id) => nodeOf[id]);

    if (start < 0) start = path.length;
    for (let i = start - 1; i >= 0; i--) {
      const id = path[i]!;

      nodeOf[id] = growing.child(nodeOf[contexts.parent[id]!]!, contexts.method[id]!);
    }
    return nodeOf[context]!;
  };

  const used = samples.map((sample, i) => {
    if (plain) {
      leaf[i] = nodeOfContext(sample.context);
      return true;
    }
    const path = drawn(contexts, sample.context, shape);

    if (!path) return false;
    leaf[i] = path.reduce((node, method) => growing.child(node, method), 0);
    return true;
  });

  const count = growing.parents.length;
  const flame: Flame = {
    count,
    total: 0,
    parent: Uint32Array.from(growing.parents),
    method: Uint32Array.from(growing.methods),
    depth: new Uint16Array(count),
    width: new Float64Array(count),
    own: new Float64Array(count),
    layers: Array.from({ length: layers }, () => new Float64Array(count)),
    left: new Float64Array(count),
    children: [],
  };

  samples.forEach((sample, i) => {
    if (!used[i]) return;
    flame.own[leaf[i]!]! += sample.width;
    if (sample.layer) flame.layers[sample.layer.number]![leaf[i]!]! += sample.layer.value;
  });
  flame.width.set(flame.own);
  for (let node = count - 1; node > 0; node--) {
    const parent = flame.parent[node]!;

    flame.width[parent]! += flame.width[node]!;
    for (const layer of flame.layers) layer[parent]! += layer[node]!;
  }
  flame.total = flame.width[0]!;
  for (let node = 1; node < count; node++) flame.depth[node] = flame.depth[flame.parent[node]!]! + 1;
  arrange(flame, contexts);
  return flame;
}

/* Children beside each other by name, so that the same frame is at the same place in every graph. */
function arrange(flame: Flame, contexts: Contexts): void {
  const lists: number[][] = Array.from({ length: flame.count }, () => []);
  const order = new Map<number, string>();
  const nameOf = (node: number): string => {
    const method = flame.method[node]!;
    let name = order.get(method);

    if (name === undefined) {
      const names = contexts.names(method);

      name = `${names.class}.${names.method}`;
      order.set(method, name);
    }
    return name;
  };

  for (let node = 1; node < flame.count; node++) lists[flame.parent[node]!]!.push(node);
  for (let node = 0; node < flame.count; node++) {
    const list = lists[node]!;
    let left = flame.left[node]!;

    if (list.length > 1) list.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    for (const child of list) {
      flame.left[child] = left;
      left += flame.width[child]!;
    }
  }
  flame.children = lists.map((list) => Uint32Array.from(list));
}

/* The kind with most waste in a frame, and its part of the frame's width (1 at most); -1 without waste. */
export function flameKind(flame: Flame, node: number): { kind: number; part: number } {
  let kind = -1, most = 0;

  flame.layers.forEach((layer, i) => {
    if (layer[node]! > most) {
      most = layer[node]!;
      kind = i;
    }
  });
  return { kind, part: flame.width[node]! > 0 ? Math.min(1, most / flame.width[node]!) : 0 };
}

/* The part of the graph below root that frames whose method is found take, each tick once. */
export function flameFound(flame: Flame, found: (method: number) => boolean, root: number): number {
  const stack = [root];
  let sum = 0;

  while (stack.length > 0) {
    const node = stack.pop()!;

    if (node !== 0 && found(flame.method[node]!)) sum += flame.width[node]!;
    else for (const child of flame.children[node]!) stack.push(child);
  }
  return flame.width[root]! > 0 ? sum / flame.width[root]! : 0;
}
