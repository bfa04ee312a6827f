/* A number that was estimated: as a figure, with its interval in words and as a bar on a scale that a list shares. */
import type { Interval } from "../data/report.ts";
import type { Change } from "../data/comparison.ts";
import { interval, percent, points } from "../data/text.ts";

interface Props {
  value: number | null;
  ci: Interval | null | undefined;
  max: number; // the scale's right end
  kind?: string | undefined;
  large?: boolean;
  unit?: string;
}

/* An eighth beyond the largest upper end, and no more than all. */
export function scaleOf(rows: readonly (Interval | null | undefined)[]): number {
  const most = rows.reduce((max, ci) => Math.max(max, ci?.[1] ?? 0), 0);

  return Math.min(1, most * 1.125) || 1;
}

export function Estimate({ value, ci, max, kind, large, unit }: Props) {
  const at = (part: number) => `${Math.min(100, (part / max) * 100)}%`;

  if (value === null) return <div class="estimate quiet">not known</div>;
  return (
    <div class="estimate" data-kind={kind}>
      <div>
        <span class={large ? "figure" : "number"}>{percent(value)}</span>
        {unit && ` ${unit}`} {ci && <span class="quiet">({interval(ci)})</span>}
      </div>
      <div class="scale" aria-hidden="true">
        {ci && <span class="range" style={{ left: at(ci[0]), width: `calc(${at(ci[1])} - ${at(ci[0])})` }} />}
        <span class="tick" style={{ left: at(value) }} />
      </div>
    </div>
  );
}

/* A share before and after, its difference with the interval of it, and both as ticks on one scale. */
export function BeforeAfter({ change, max }: { change: Change; max: number }) {
  const at = (part: number) => `${Math.min(100, (part / max) * 100)}%`;
  const [before, after] = change.share;

  return (
    <div class="estimate">
      <div>
        <span class="number">
          {percent(before)} to {percent(after)}
        </span>{" "}
        <span class="quiet">
          {points(change.difference)} ({points(change.interval[0])} to {points(change.interval[1])})
        </span>
      </div>
      <div class="scale" aria-hidden="true">
        <span class="range" style={{ left: at(Math.min(before, after)), width: `calc(${at(Math.max(before, after))} - ${at(Math.min(before, after))})` }} />
        <span class="tick hollow" style={{ left: at(before) }} />
        <span class="tick" style={{ left: at(after) }} />
      </div>
    </div>
  );
}
