/* What the page makes of a report, without a browser. */
import assert from "node:assert/strict";
import test from "node:test";

import { load } from "./support/bundle.mjs";
import { makeReport } from "./support/reports.mjs";

const { Contexts } = await load("data/contexts.ts");
const { listPairs, selectPairs } = await load("data/pairs.ts");
const { buildFlame, flameSamples, flameFound, flameKind } = await load("data/flame.ts");
const { layoutOf } = await load("data/layout.ts");
const text = await load("data/text.ts");

/* main calls a and b, which both call leaf; a calls itself. */
const TREE = {
  methods: [["p.Main", "main", "Main.java"], ["p.A", "a", "A.java"], ["p.B", "b", "B.java"], ["p.Leaf", "leaf", "Leaf.java"]],
  parent: [0, 1, 1, 2, 3, 2, 6],
  method: [1, 2, 3, 4, 4, 2, 4],
  line: [1, 10, 20, 30, 30, 11, 31],
  bci: [0, 0, 0, 0, 0, 0, 0],
  tier: ["jit", "jit", "jit", "jit", "jit", "jit", "jit"],
};

test("a path goes from the leaf to the root", () => {
  const contexts = new Contexts(TREE);

  assert.deepEqual(contexts.path(4), [4, 2, 1]);
  assert.deepEqual(contexts.path(0), []);
  assert.equal(contexts.frame(4).method, "leaf");
});

test("two contexts part where their frames differ", () => {
  const contexts = new Contexts(TREE);

  assert.deepEqual(contexts.divide(4, 5), { own: [4, 2], others: [5, 3], common: [1] });
});

test("a context beside itself keeps its leaf", () => {
  assert.deepEqual(new Contexts(TREE).divide(4, 4), { own: [4], others: [4], common: [2, 1] });
});

test("a context beside nothing is all its own", () => {
  assert.deepEqual(new Contexts(TREE).divide(4, 0), { own: [4, 2, 1], others: [], common: [] });
});

const samples = [
  { context: 4, width: 3, layer: { number: 0, value: 2 } },
  { context: 5, width: 5 },
  { context: 7, width: 1 },
];

test("a context is found by any of its frames, and by a line", () => {
  const contexts = new Contexts(TREE);

  assert.deepEqual([...contexts.found("p.b.b")], [0, 0, 0, 1, 0, 1, 0, 0]);
  assert.deepEqual([...contexts.found("leaf.java:31")], [0, 0, 0, 0, 0, 0, 0, 1]);
});

test("a flame graph adds up what is below each frame", () => {
  const contexts = new Contexts(TREE);
  const flame = buildFlame(contexts, samples, { as: "callees" });
  const main = flame.children[0][0];
  const byMethod = new Map([...flame.children[main]].map((node) => [flame.method[node], node]));

  assert.equal(flame.total, 9);
  assert.equal(flame.width[main], 9);
  assert.equal(flame.width[byMethod.get(2)], 4);
  assert.equal(flame.width[byMethod.get(3)], 5);
  assert.deepEqual(flameKind(flame, byMethod.get(2)), { kind: 0, part: 0.5 });
});

test("children do not overlap and stay within their parent", () => {
  const report = makeReport({ nodes: 3000, pairs: 300 });
  const contexts = new Contexts(report.contexts);

  for (const shape of [{ as: "callees" }, { as: "callers" }, { as: "callees-of", method: 3 }, { as: "callers-of", method: 3 }]) {
    const flame = buildFlame(contexts, flameSamples(report, "waste"), shape);

    for (let node = 0; node < flame.count; node++) {
      let left = flame.left[node];

      for (const child of flame.children[node]) {
        assert.ok(Math.abs(flame.left[child] - left) < 1e-9);
        left += flame.width[child];
      }
      assert.ok(left <= flame.left[node] + flame.width[node] + 1e-9);
    }
  }
});

test("inverted, leaves are at the root and the sum is the same", () => {
  const flame = buildFlame(new Contexts(TREE), samples, { as: "callers" });

  assert.equal(flame.total, 9);
  assert.deepEqual([...flame.children[0]].map((node) => flame.method[node]), [4]);
});

test("a sandwich has the method's outermost call once", () => {
  const contexts = new Contexts(TREE);
  const callees = buildFlame(contexts, samples, { as: "callees-of", method: 2 });
  const callers = buildFlame(contexts, samples, { as: "callers-of", method: 2 });

  assert.equal(callees.total, 4);
  assert.equal(callers.total, 4);
  assert.equal(callees.children[0].length, 1);
});

test("recursion counts once in what a search finds", () => {
  const flame = buildFlame(new Contexts(TREE), samples, { as: "callees" });

  assert.equal(flameFound(flame, (method) => method === 2, 0), 4 / 9);
});

test("the sum of a kind's pairs is the graph's", () => {
  const report = makeReport({ nodes: 500, pairs: 90 });
  const flame = buildFlame(new Contexts(report.contexts), flameSamples(report, "waste"), { as: "callees" });
  const sum = report.inefficiency.flatMap((k) => k.pairs).reduce((s, p) => s + p.cpu_share, 0);

  assert.ok(Math.abs(flame.total - sum) < 1e-9);
});

test("pairs are found by class, method, file and field, and ordered", () => {
  const report = makeReport({ nodes: 500, pairs: 90 });
  const contexts = new Contexts(report.contexts);
  const rows = listPairs(report, contexts);
  const all = { query: "", kind: "", region: "", package: "", order: "cpu" };
  const shares = selectPairs(rows, contexts, all).map((row) => row.pair.cpu_share_ci95[0]);

  assert.equal(rows.length, 90);
  assert.deepEqual(shares, [...shares].sort((a, b) => b - a));
  assert.ok(selectPairs(rows, contexts, { ...all, query: "FIELD3" }).every((row) => row.pair.watch.location.field === "field3"));
  assert.ok(selectPairs(rows, contexts, { ...all, kind: "silent_load" }).every((row) => row.kind === "silent_load"));
  assert.ok(selectPairs(rows, contexts, { ...all, region: "stack" }).length > 0);
  assert.equal(selectPairs(rows, contexts, { ...all, query: "nothing has this" }).length, 0);
});

test("a report whose lists are cut has nulls, which are passed over", () => {
  const report = makeReport();

  report.inefficiency[0].pairs[1] = null;
  report.cpu.contexts[0] = null;
  assert.equal(listPairs(report, new Contexts(report.contexts)).length, 11);
  assert.ok(flameSamples(report, "cpu").length > 0);
});

test("numbers and names are said as people read them", () => {
  assert.equal(text.percent(0.1234), "12.3%");
  assert.equal(text.percent(0.0001), "<0.1%");
  assert.equal(text.percent(0), "0%");
  assert.equal(text.percent(1), "100%");
  assert.equal(text.percent(null), "not known");
  assert.equal(text.interval([0.1, 0.2]), "10.0 to 20.0%");
  assert.equal(text.shortClass("java.util.HashMap$Node[]"), "HashMap$Node[]");
  assert.equal(text.shortClass("int[]"), "int[]");
  assert.equal(text.shortClass("a.b.C$$Lambda/0x00007f.run"), "C$$Lambda/0x00007f.run");
  assert.equal(text.shortClass("a.b.C$$Lambda.0x00007f"), "C$$Lambda.0x00007f");
  assert.equal(text.bytes(1536), "1.50 KiB");
  assert.equal(text.count(1234567), "1.23 million");
  assert.equal(text.count(999999999), "1.00 billion");
  assert.equal(text.bytes(1034 * 1024), "1.01 MiB");
  assert.equal(text.bytes(1010 * 1024), "1010 KiB");
});

test("fields lie in rows as long as a cache line, with what was not met between them", () => {
  const at = (offset, size) => ({ field: `f${offset}`, offset, size });
  const cells = (of) => layoutOf(of).map((row) => row.map(({ start, end, field }) => `${field ? field.field : "-"} ${start}-${end}`));

  assert.deepEqual(cells({ size: 24, fields: [at(16, 8), at(8, 4)] }), [["- 0-8", "f8 8-12", "- 12-16", "f16 16-24"]]);
  assert.deepEqual(cells({ size: 288, fields: [at(56, 4), at(272, 8), { field: "static" }] }), [["- 0-56", "f56 56-60", "- 60-64"], ["- 64-256"], ["- 256-272", "f272 272-280", "- 280-288"]]);
  assert.deepEqual(cells({ size: 128, fields: [at(0, 8), at(64, 8)] }), [["f0 0-8", "- 8-64"], ["f64 64-72", "- 72-128"]]);
});

test("a layout that is not known, or cannot be, has no rows", () => {
  const at = (offset, size) => ({ field: "f", offset, size });

  assert.deepEqual(layoutOf({ fields: [{ field: "f" }] }), []);
  assert.deepEqual(layoutOf({ fields: [at(8, 8)] }), []);
  assert.deepEqual(layoutOf({ size: 16, fields: [at(16, 8), at(60, 8)] }), []);
  assert.equal(layoutOf({ size: 32, fields: [at(8, 8), at(12, 4)] })[0].length, 3);
});
