/* Reports that tests make up, and pages of them. */
import { gzipSync } from "node:zlib";
import { readFileSync } from "node:fs";

const KINDS = ["dead_store", "silent_store", "silent_load"];

function place(name, field) {
  return { class: name, field, declared_in: name, type: "int", kind: "field" };
}

/* A report of so many contexts and pairs. name gives the class of method number i. */
export function makeReport({ nodes = 60, pairs = 12, name = (i) => `org.example.p${i % 7}.Class${i}` } = {}) {
  const methods = [], parent = [], method = [], line = [], bci = [], tier = [];
  const methodCount = Math.max(3, Math.min(5000, Math.ceil(nodes / 4)));

  for (let i = 0; i < methodCount; i++) methods.push([name(i), `method${i}`, `Class${i}.java`]);
  for (let i = 0; i < nodes; i++) {
    /* Chains of forty frames that part from earlier ones. */
    parent.push(i === 0 ? 0 : i % 40 === 0 ? 1 + ((i * 7919) % i) : i);
    method.push(1 + ((i * 31) % methodCount));
    line.push(10 + (i % 90));
    bci.push(i % 50);
    tier.push(i % 5 ? "jit" : "interpreted");
  }
  /* No path is deeper than the profiler's. */
  const depth = [0];
  for (let i = 1; i <= nodes; i++) {
    if ((depth[parent[i - 1]] ?? 0) >= 200) parent[i - 1] = 0;
    depth[i] = (depth[parent[i - 1]] ?? 0) + 1;
  }
  const at = (i) => 1 + ((i * 104729) % nodes);
  const pair = (i, kind) => ({
    fraction: 1 / (i + 2),
    fraction_ci95: [0.5 / (i + 2), 1.5 / (i + 2)],
    wasteful_bytes: 8 * (i + 1),
    count: i + 10,
    wasteful_count: i + 1,
    cpu_share: 0.2 / (i + 1),
    cpu_share_ci95: [0.1 / (i + 1), 0.3 / (i + 1)],
    gain_share: 0.1 / (i + 1),
    gain_share_ci95: [0.05 / (i + 1), 0.2 / (i + 1)],
    region: i % 9 ? "heap" : "stack",
    watch: { instruction: "mov [rdi+0x10], ebx", location: place(name(i), `field${i % 11}`), attribution: "checked", frames: at(i) },
    trap: { instruction: "mov [r11+0x10], ebp", location: place(name(i), `field${i % 11}`), attribution: "inferred", frames: at(i + kind) },
  });
  const each = Math.ceil(pairs / 3);

  return {
    schema: 1,
    window: {
      id: "w1", pid: 42, app: name(0), start: "2026-11-27T20:00:00.000Z", end: "2026-11-27T20:00:30.000Z", duration_s: 30, jdk: "17.0.15+6",
      gc: "G1", sampler: "clock", sampler_reason: "no PMU", sampler_note: "", budget: 0.01, state: "done", reason: "",
    },
    quality: { samples: 1000, traps: 500, overhead_fraction: 0.009, dropped: 0 },
    problems: [
      {
        kind: "repeated", sentence: `${name(0)}.method0 loads the same again`, advice: "keeping the result", operation: { class: name(0), method: "method0" },
        caller: { class: name(1), method: "method1" }, caller_fraction: 0.9, part_of: null, places: [place(name(0), "field0")], place_count: 1,
        pairs: { silent_load: { wasteful_count: 90, count: 100 } }, pair_kind: "silent_load", watch: null, trap: null, own_share: 0.2, inclusive_share: 0.3,
        saved_share: 0.1, saved_share_ci95: [0.08, 0.13], saved_bounds: [0.02, 0.2], allocated: null, wasteful_count: 90, told_count: 90, sure: true,
      },
    ],
    inefficiency: KINDS.map((kind, k) => ({
      kind, checked_bytes: 1000, fraction: 0.4, fraction_ci95: [0.35, 0.45], checked_accesses: 100, wasteful_accesses: 40, cpu_share: 0.2,
      cpu_share_ci95: [0.15, 0.25], pairs_total: each, pairs_omitted: 0, pairs: Array.from({ length: each }, (_, i) => pair(i * 3 + k, k)), by_location: [],
    })),
    objects_summary: {},
    objects: [
      {
        class: `${name(2)}[]`, fraction: 0.3, fraction_ci95: [0.2, 0.4], samples: 30, metric: 1, alloc_samples: 9, alloc_bytes: 1 << 20, live_bytes: null,
        alloc_frames: at(2), accesses: [],
        numa: { samples: 7, remote_fraction: 0.6, alloc_node: 0, first_touch: [{ node: 0, fraction: 1 }], accessed_from: [{ node: 1, fraction: 0.6 }], advice: "initialised on node 0, accessed from node 1" },
      },
    ],
    classes: [
      {
        class: name(0), fraction: 0.5, fraction_ci95: [0.4, 0.6], samples: 50, older_fraction: 0, older_known: true,
        origin: { basis: "inferred", assumption: "as much", alloc_samples: 3, sites: [{ share: 1, share_ci95: [0.5, 1], alloc_frames: at(3) }] },
        size: 320,
        fields: [
          { ...place(name(0), "field0"), offset: 16, size: 8, fraction: 0.3, fraction_ci95: [0.2, 0.4], samples: 30, accesses: [{ fraction: 0.3, samples: 30, frames: at(4) }] },
          { ...place(name(0), "field1"), offset: 296, size: 4, fraction: 0.1, fraction_ci95: [0.05, 0.2], samples: 10, accesses: [] },
        ],
      },
    ],
    numa: { nodes: 2, node_ids: [0, 1], samples: 40, remote_samples: 39, remote_fraction: 0.97, matrix: [[0.02, 0.01], [0.96, 0.01]] },
    cpu: {
      samples: 1000, cpu_s: 10, by_exclusive: [], contexts_omitted: 0,
      contexts: Array.from({ length: Math.min(nodes, 20000) }, (_, i) => ({ fraction: 0.5 / Math.min(nodes, 20000), samples: 1, frames: at(i) })),
    },
    subsuming: {
      unit: "samples", total: 1000, coverage: 0.8,
      by_induced: [
        {
          class: name(1), method: "method1", induced: 100, induced_ci95: [80, 120], induced_fraction: 0.1, induced_fraction_ci95: [0.08, 0.12],
          inclusive_fraction: 0.2, exclusive_fraction: 0.01, height: 5, distance: 4, distance_is_more: false, dominator: { class: name(0), method: "method0" },
          callers: [{ class: name(0), method: "method0", fraction: 1 }], pattern: [{ class: name(2), method: "method2", fraction: 0.4 }],
        },
      ],
    },
    loops: [
      {
        class: name(1), method: "method1", file: "Class1.java", mapped: true, line: 12, time_fraction: 0.1, time_ci95: [0.08, 0.13], inclusive_fraction: 0.2,
        ticks: 100, type: "1*", verdict: "resultless", advice: ["delete"], unsure: [], contexts: [{ fraction: 0.1, frames: at(5) }],
        pairs: [{ kind: "silent_load", fraction: 0.9, fraction_ci95: [0.8, 0.95], count: 20, wasteful_count: 18 }],
      },
    ],
    contexts: { methods, parent, method, line, bci, tier },
  };
}

/* The page of a report as the client writes it (client/output/page.c). */
export function pageOf(template, report) {
  return readFileSync(template, "utf8").replace("@REPORT@", gzipSync(JSON.stringify(report)).toString("base64"));
}
