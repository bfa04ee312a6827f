/* Fractions of waste over time: a point for each window, its interval as a bar. */
import { KINDS, KIND_WORDS, type KindName } from "../data/report.ts";
import { interval, percent } from "../data/text.ts";
import type { Findings, WindowInfo } from "./api.ts";

const WIDTH = 900, HEIGHT = 190, LEFT = 44, BOTTOM = 22, TOP = 8;

export interface Measured {
  window: WindowInfo;
  findings: Findings;
}

function x(index: number, of: number): number {
  return LEFT + ((index + 0.5) / Math.max(of, 1)) * (WIDTH - LEFT);
}

export function Chart({ measured }: { measured: Measured[] }) {
  const kinds = KINDS.filter((kind) => measured.some((m) => m.findings.inefficiency.some((i) => i.kind === kind)));
  const most = Math.max(0.05, ...measured.flatMap((m) => m.findings.inefficiency.map((i) => i.fraction_ci95[1])));
  const y = (part: number) => TOP + (1 - part / most) * (HEIGHT - TOP - BOTTOM);
  const points = (kind: KindName) =>
    measured.flatMap((m, i) => {
      const found = m.findings.inefficiency.find((f) => f.kind === kind && f.checked_bytes > 0);

      return found ? [{ at: x(i, measured.length) + (kinds.indexOf(kind) - 1) * 5, found, window: m.window }] : [];
    });

  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label="Fractions of wasteful bytes, window after window">
        {[0, most / 2, most].map((part) => (
          <g key={part} class="grid">
            <line x1={LEFT} x2={WIDTH} y1={y(part)} y2={y(part)} />
            <text x={LEFT - 6} y={y(part) + 4} text-anchor="end">
              {percent(part)}
            </text>
          </g>
        ))}
        {kinds.map((kind) => (
          <g key={kind} data-kind={kind} class="points">
            {points(kind).map((p) => (
              <g key={p.window.id}>
                <title>{`${p.window.id}, ${KIND_WORDS[kind].title.toLowerCase()}: ${percent(p.found.fraction)} (${interval(p.found.fraction_ci95)})`}</title>
                <line x1={p.at} x2={p.at} y1={y(p.found.fraction_ci95[0])} y2={y(p.found.fraction_ci95[1])} />
                <circle cx={p.at} cy={y(p.found.fraction)} r="3" />
              </g>
            ))}
          </g>
        ))}
        {measured.map((m, i) => (
          <text key={m.window.id} x={x(i, measured.length)} y={HEIGHT - 6} text-anchor="middle" class="quiet">
            {m.window.id}
          </text>
        ))}
      </svg>
      <figcaption class="legend small">
        {kinds.map((kind) => (
          <span key={kind} class="kind" data-kind={kind}>
            <span class="dot" aria-hidden="true" /> {KIND_WORDS[kind].title.toLowerCase()}
          </span>
        ))}
        <span class="quiet">of checked bytes, 95% intervals</span>
      </figcaption>
    </figure>
  );
}
