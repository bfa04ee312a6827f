/* Numbers and names as people read them. */
import type { Interval, Method, Place } from "./report.ts";

/* 0.1234 is "12.3%"; what is above 0 and rounds to it is "<0.1%". */
export function percent(part: number | null | undefined): string {
  if (part === null || part === undefined || Number.isNaN(part)) return "not known";
  const value = part * 100;

  if (value > 0 && value < 0.05) return "<0.1%";
  return `${value >= 99.95 || value === 0 ? Math.round(value) : value.toFixed(1)}%`;
}

/* A difference of two parts in points: "+1.2", "-0.4", "0". */
export function points(difference: number): string {
  const value = (difference * 100).toFixed(1);

  return Number(value) === 0 ? "0" : difference > 0 ? `+${value}` : value;
}

export function interval(ci: Interval | null | undefined): string {
  return ci ? `${percent(ci[0]).replace("%", "")} to ${percent(ci[1])}` : "";
}

/* 20,123 as it stands, 1.3 million in words: what comes next has three figures. */
export function count(value: number): string {
  if (value >= 999.5e6) return `${figures(value / 1e9)} billion`;
  if (value >= 1e6) return `${figures(value / 1e6)} million`;
  return Math.round(value).toLocaleString("en-US");
}

/* Three of them, or all before the point. */
function figures(value: number): string {
  return value < 99.95 ? value.toPrecision(3) : value.toFixed(0);
}

export function bytes(value: number | null): string {
  if (value === null) return "not known";
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;

  for (; value >= 1023.5 && unit < units.length - 1; unit++) value /= 1024;
  return unit === 0 ? `${count(value)} bytes` : `${figures(value)} ${units[unit]}`;
}

/* org.h2.mvstore.Page$PageReference[] is Page$PageReference[]. */
export function shortClass(name: string): string {
  /* Hidden classes have an address behind a slash, or digits behind a dot, which are no package. */
  const packages = /^(?:[^/[]*\.)?(?=[A-Za-z_$])/.exec(name)?.[0] ?? "";

  return name.slice(packages.length);
}

export function shortMethod(m: Method): string {
  return m.class ? `${shortClass(m.class)}.${m.method}` : m.method || "a frame without a name";
}

export function longMethod(m: Method): string {
  return m.class ? `${m.class}.${m.method}` : m.method || "a frame without a name";
}

export function packageOf(name: string): string {
  const dot = name.lastIndexOf(".");

  return dot < 0 ? "" : name.slice(0, dot);
}

function place(p: Place, name: (text: string) => string): string {
  switch (p.kind) {
    case "field":
      return `${name(p.declared_in || p.class)}.${p.field}`;
    case "static":
      return `${name(p.class)}.${p.field}`;
    case "element":
      return p.class ? `element of ${name(p.class)}` : "element of an array";
    case "header":
      return p.class ? `header of ${name(p.class)}` : "header of an object";
    case "spill":
      return "a compiler's spill";
    case "stack":
      return "a stack";
    default:
      return p.class ? `somewhere in ${name(p.class)}` : "a place that is not known";
  }
}

export function shortPlace(p: Place): string {
  return place(p, shortClass);
}

export function longPlace(p: Place): string {
  return place(p, (text) => text);
}

/* 2026-11-25T18:24:39.000Z is 2026-11-25 18:24:39 UTC. */
export function time(iso: string | null): string {
  return iso ? `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC` : "a time that is not known";
}
