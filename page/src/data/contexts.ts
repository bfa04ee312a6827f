/*
 * The calling contexts of a report: a tree in columns, named by numbers of which 0 is the empty context. A parent's
 * number is always below its children's.
 */
import type { ContextColumns } from "./report.ts";

export interface Frame {
  class: string;
  method: string;
  file: string;
  line: number;
  tier: string;
}

export class Contexts {
  readonly count: number;
  readonly parent: Uint32Array;
  readonly method: Uint32Array;
  private readonly columns: ContextColumns;

  constructor(columns: ContextColumns) {
    this.columns = columns;
    this.count = columns.parent.length;
    this.parent = new Uint32Array(this.count + 1);
    this.method = new Uint32Array(this.count + 1);
    this.parent.set(columns.parent, 1);
    this.method.set(columns.method, 1);
  }

  get methodCount(): number {
    return this.columns.methods.length;
  }

  /* The names of a method by its number; empty ones for 0. */
  names(method: number): { class: string; method: string; file: string } {
    const names = this.columns.methods[method - 1];

    return { class: names?.[0] ?? "", method: names?.[1] ?? "", file: names?.[2] ?? "" };
  }

  frame(context: number): Frame {
    return {
      ...this.names(this.method[context] ?? 0),
      line: this.columns.line[context - 1] ?? -1,
      tier: this.columns.tier[context - 1] ?? "",
    };
  }

  /* Numbers from the leaf up to the root. */
  path(context: number): number[] {
    const path: number[] = [];

    for (; context; context = this.parent[context] ?? 0) path.push(context);
    return path;
  }

  /*
   * Which contexts have a frame whose class, method or file (with its line: "A.java:12") has the text in it, in small
   * letters: 1 by number, 0 for the others.
   */
  found(text: string): Uint8Array {
    const methods = this.columns.methods.map(([of, name, file]) => `${of}.${name} ${file}`.toLowerCase().includes(text));
    const found = new Uint8Array(this.count + 1);
    const line = /:\d/.test(text);

    for (let id = 1; id <= this.count; id++) {
      const own = methods[this.method[id]! - 1] || (line && this.place(id).includes(text));

      found[id] = own || found[this.parent[id]!] ? 1 : 0;
    }
    return found;
  }

  private place(id: number): string {
    return `${this.names(this.method[id]!).file}:${this.columns.line[id - 1]}`.toLowerCase();
  }

  /* Are two frames the same call, in code that was compiled or not? */
  private same(a: number, b: number): boolean {
    return this.method[a] === this.method[b] && this.columns.line[a - 1] === this.columns.line[b - 1];
  }

  /*
   * Where two contexts part. own and others are the frames that only one has, leaf first; where both are the same as a
   * whole, the leaf is shown all the same, since the access is made there.
   */
  divide(one: number, other: number): { own: number[]; others: number[]; common: number[] } {
    const a = this.path(one), b = this.path(other);
    let shared = 0;

    while (shared < a.length - 1 && shared < b.length - 1 && this.same(a[a.length - 1 - shared]!, b[b.length - 1 - shared]!))
      shared++;
    return { own: a.slice(0, a.length - shared), others: b.slice(0, b.length - shared), common: a.slice(a.length - shared) };
  }
}
