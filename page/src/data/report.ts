/*
 * The report as the daemon writes it (jxperf-report(5)), in the parts that the page shows. Frames are numbers of
 * calling contexts, 0 for none: data/contexts.ts.
 */

export type Interval = readonly [number, number];
export type KindName = "dead_store" | "silent_store" | "silent_load";

export interface Place {
  class: string;
  field: string;
  declared_in: string;
  type: string;
  kind: string;
}

export interface Method {
  class: string;
  method: string;
}

export interface Line extends Method {
  file: string;
  line: number;
  attribution?: string;
}

export interface LoopOf extends Method {
  rank: number;
  line: number;
  called: boolean;
}

export interface Access {
  instruction: string;
  location: Place;
  attribution?: string;
  frames: number;
  loop?: LoopOf;
}

/* What pairs, places and lines have in common. */
export interface Row {
  fraction: number;
  fraction_ci95: Interval;
  wasteful_bytes: number;
  count: number;
  wasteful_count: number;
  cpu_share: number | null;
  cpu_share_ci95: Interval | null;
  gain_share: number | null;
  gain_share_ci95: Interval | null;
}

export interface Pair extends Row {
  region: string;
  watch: Access;
  trap: Access;
}

export interface Inefficiency {
  kind: KindName;
  checked_bytes: number;
  fraction: number;
  fraction_ci95: Interval;
  checked_accesses: number;
  wasteful_accesses: number;
  cpu_share: number | null;
  cpu_share_ci95: Interval | null;
  pairs_total: number;
  pairs_omitted: number;
  pairs: Pair[];
  by_location: (Row & { location: Place; region: string })[];
}

export interface Problem {
  kind: string;
  sentence: string;
  advice: string;
  operation: Method | null;
  caller: Method | null;
  caller_fraction: number;
  part_of: number | null;
  places: Place[];
  place_count: number;
  pairs: Record<string, { wasteful_count: number; count: number }>;
  pair_kind: KindName | null;
  watch: Line | null;
  trap: Line | null;
  own_share: number | null;
  inclusive_share: number | null;
  saved_share: number | null;
  saved_share_ci95: Interval | null;
  saved_bounds: Interval | null;
  allocated: { alloc_samples: number; fraction: number; objects_per_s: number; garbage_fraction: number } | null;
  wasteful_count: number;
  told_count: number;
  sure: boolean;
}

export interface ClassField extends Place {
  offset?: number; // in an object, where it is known
  size?: number;
  fraction: number;
  fraction_ci95: Interval;
  samples: number;
  accesses: { fraction: number; samples: number; frames: number; attribution?: string }[];
}

export interface ClassOf {
  class: string;
  size?: number; // of an object, where its layout is known
  fraction: number;
  fraction_ci95: Interval;
  samples: number;
  older_fraction: number;
  older_known: boolean;
  origin: {
    basis: string;
    assumption?: string;
    alloc_samples: number;
    sites: { share: number; share_ci95: Interval; alloc_frames: number }[];
  } | null;
  fields: ClassField[];
}

export interface Node {
  node: number;
  fraction: number;
}

export interface Site {
  class: string;
  fraction: number;
  fraction_ci95: Interval;
  samples: number;
  metric: number;
  alloc_samples: number;
  alloc_bytes: number;
  live_bytes: number | null;
  alloc_frames: number;
  accesses: { fraction: number; frames: number; location: Place }[];
  numa: {
    samples: number;
    remote_fraction: number | null;
    alloc_node?: number | null;
    first_touch?: Node[];
    accessed_from?: Node[];
    advice?: string | null;
  } | null;
}

export interface Numa {
  nodes: number;
  node_ids?: number[];
  samples?: number;
  remote_samples?: number;
  remote_fraction: number | null;
  matrix: number[][];
  note?: string;
}

export interface Cpu {
  samples: number;
  cpu_s: number;
  by_exclusive: (Method & { exclusive: number; inclusive: number; exclusive_samples: number })[];
  contexts: { fraction: number; samples: number; frames: number }[];
  contexts_omitted: number;
  [fraction: string]: unknown;
}

export interface Subsuming extends Method {
  induced: number;
  induced_ci95: Interval;
  induced_fraction: number;
  induced_fraction_ci95: Interval;
  inclusive_fraction: number;
  exclusive_fraction: number;
  height: number;
  distance: number;
  distance_is_more: boolean;
  dominator: Method | null;
  callers: (Method & { fraction: number })[];
  pattern: (Method & { fraction: number })[];
}

export interface SubsumingMethods {
  unit: string;
  total: number;
  coverage: number;
  by_induced: Subsuming[];
}

export interface Loop extends Method {
  file: string;
  mapped: boolean;
  line: number;
  time_fraction: number;
  time_ci95: Interval;
  inclusive_fraction: number;
  ticks: number;
  type?: string;
  verdict?: string;
  needs_s?: number;
  iterations_per_instance?: number | null;
  iterations_per_instance_ci95?: Interval | null;
  result_rate?: number | null;
  result_rate_ci95?: Interval | null;
  advice: { strategy: string; why: string }[] | string[];
  unsure: string[];
  contexts: { fraction: number; frames: number }[];
  pairs?: { kind: KindName; fraction: number; fraction_ci95: Interval; count: number; wasteful_count: number }[];
}

export interface ContextColumns {
  methods: [string, string, string][];
  parent: number[];
  method: number[];
  line: number[];
  bci: number[];
  tier: string[];
}

export interface Report {
  schema: number;
  window: {
    id: string;
    pid: number;
    app: string;
    start: string | null;
    duration_s: number;
    jdk: string;
    gc: string;
    sampler: string;
    sampler_reason: string;
    sampler_note: string;
    budget: number;
    state: string;
    reason: string;
    merged?: { windows: number; processes: number; first: string; last: string };
  };
  quality: Record<string, unknown>;
  problems: Problem[];
  inefficiency: Inefficiency[];
  objects_summary: Record<string, unknown> | null;
  objects: Site[];
  classes: ClassOf[];
  numa: Numa | null;
  cpu: Cpu | null;
  subsuming: SubsumingMethods | null;
  loops?: Loop[];
  loops_summary?: Record<string, number>;
  contexts: ContextColumns;
}

export const KINDS: readonly KindName[] = ["dead_store", "silent_store", "silent_load"];

export const KIND_WORDS: Record<KindName, { title: string; meaning: string; watch: string; trap: string }> = {
  dead_store: {
    title: "Dead stores",
    meaning: "stored, then overwritten before anybody reads it",
    watch: "Stored here, never read",
    trap: "Overwritten here",
  },
  silent_store: {
    title: "Silent stores",
    meaning: "the value stored was there already",
    watch: "Stored here",
    trap: "The same value stored again here",
  },
  silent_load: {
    title: "Silent loads",
    meaning: "the value loaded is the one the last load gave",
    watch: "Loaded here",
    trap: "The same value loaded again here",
  },
};
