/* A number that was estimated: as a figure, with its interval in words and as a bar on a scale that a list shares. */
import type { Interval } from "../data/report.ts";
import { interval, percent } from "../data/text.ts";

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
