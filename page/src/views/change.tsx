/* The first view: what to change, how much waste there is, how sure that is. */
import { Estimate, scaleOf } from "../parts/interval.tsx";
import { Empty, Term } from "../parts/small.tsx";
import { KIND_WORDS, type Inefficiency, type Problem } from "../data/report.ts";
import { count, interval, longPlace, percent, shortMethod, shortPlace } from "../data/text.ts";
import type { ViewProps } from "../model.ts";
import { linkTo } from "../state.ts";

const SURE_SHOWN = 5;

function problemEvidence(problem: Problem): string {
  if (problem.kind !== "allocated" && problem.wasteful_count > 0) return `${count(problem.wasteful_count)} wasteful pairs`;
  if (problem.allocated) return `${count(problem.allocated.alloc_samples)} sampled allocations`;
  return "told by a loop";
}

/* Where what tells of it is shown. */
function evidenceOf(problem: Problem): [string, string] {
  if (problem.pair_kind) return ["pairs", "Its pairs"];
  return problem.allocated ? ["objects", "Its allocations"] : ["loops", "Its loop"];
}

function ProblemCard({ problem, rank, max, address }: { problem: Problem; rank: number; max: number; address: ViewProps["address"] }) {
  const [view, evidence] = evidenceOf(problem);
  const query = problem.operation ? `${problem.operation.class}.${problem.operation.method}` : "";

  return (
    <li class="card problem" data-kind={problem.pair_kind ?? undefined}>
      <span class="rank" aria-hidden="true">
        {rank}
      </span>
      <div>
        <p class="sentence">{problem.sentence}</p>
        <p class="quiet small">
          {problem.pair_kind && (
            <>
              <span class="dot" aria-hidden="true" /> {KIND_WORDS[problem.pair_kind].title} ·{" "}
            </>
          )}
          {problemEvidence(problem)}
          {problem.caller && ` · ${percent(problem.caller_fraction)} when called from ${shortMethod(problem.caller)}`}
          {problem.part_of && ` · may go with number ${problem.part_of}`}
        </p>
        {problem.places.length > 0 && (
          <p class="quiet small">
            {problem.places.filter(Boolean).map((place, i) => (
              <>
                {i > 0 && ", "}
                <code title={longPlace(place)}>{shortPlace(place)}</code>
              </>
            ))}
            {problem.place_count > problem.places.length && ` and ${problem.place_count - problem.places.length} more`}
          </p>
        )}
        <p class="small">
          {problem.advice && `Perhaps: ${problem.advice}. `}
          <a href={linkTo(address, { view, q: query })}>{evidence}</a>
        </p>
      </div>
      <div>
        <span class="small">a rewrite could save</span>
        <Estimate
          value={problem.saved_share}
          ci={problem.saved_share_ci95}
          max={max}
          kind={problem.pair_kind ?? undefined}
          large
          unit="of CPU time"
        />
        {problem.saved_bounds && <span class="quiet small">at least and at most: {interval(problem.saved_bounds)}</span>}
      </div>
    </li>
  );
}

function Problems({ problems, first, max, address }: { problems: Problem[]; first: number; max: number; address: ViewProps["address"] }) {
  return (
    <ol class="cards" start={first}>
      {problems.map((problem, i) => (
        <ProblemCard key={i} problem={problem} rank={first + i} max={max} address={address} />
      ))}
    </ol>
  );
}

function KindCard({ kind, address }: { kind: Inefficiency; address: ViewProps["address"] }) {
  const words = KIND_WORDS[kind.kind];

  if (!words) return null;
  return (
    <a class="card kind-card" href={linkTo(address, { view: "pairs", kind: kind.kind })} data-kind={kind.kind}>
      <h3>
        <span class="dot" aria-hidden="true" /> {words.title}
      </h3>
      <p class="quiet small">{words.meaning}</p>
      {kind.checked_bytes > 0 ? (
        <Estimate value={kind.fraction} ci={kind.fraction_ci95} max={1} kind={kind.kind} large unit="of checked bytes" />
      ) : (
        <p class="quiet">no pair of accesses was seen</p>
      )}
      <p class="quiet small">
        {kind.cpu_share !== null && `at ${percent(kind.cpu_share)} of CPU time (${interval(kind.cpu_share_ci95)}) · `}
        {count(kind.wasteful_accesses)} of {count(kind.checked_accesses)} pairs
      </p>
    </a>
  );
}

export function Change({ model, address }: ViewProps) {
  const { report } = model;
  const q = report.quality;
  const sure = report.problems.filter((p) => p.sure), rest = report.problems.filter((p) => !p.sure);
  const max = scaleOf(report.problems.map((p) => p.saved_share_ci95));
  const fact = (value: unknown) => count(Number(value ?? 0));

  return (
    <>
      <h2>What to change first</h2>
      {sure.length > 0 ? (
        <Problems problems={sure.slice(0, SURE_SHOWN)} first={1} max={max} address={address} />
      ) : (
        <Empty>
          No problem has 25 wasteful pairs or 40 sampled allocations. A longer window, or a larger <code>--budget</code>, sees more;
          programs whose CPU time is little have little to see.
        </Empty>
      )}
      {sure.length + rest.length > Math.min(sure.length, SURE_SHOWN) && (
        <details class="more">
          <summary>
            {sure.length + rest.length - Math.min(sure.length, SURE_SHOWN)} more, most with less evidence: another window may show
            others
          </summary>
          <Problems problems={[...sure.slice(SURE_SHOWN), ...rest]} first={1 + Math.min(sure.length, SURE_SHOWN)} max={max} address={address} />
        </details>
      )}
      <h2>How much is waste</h2>
      {report.inefficiency.length > 0 ? (
        <div class="kinds">
          {report.inefficiency.map((kind) => (
            <KindCard key={kind.kind} kind={kind} address={address} />
          ))}
        </div>
      ) : (
        <Empty>
          No pairs were looked for: <code>--kinds dead-store,silent-store,silent-load</code>.
        </Empty>
      )}
      <h2>How sure</h2>
      <div class="card facts">
        <span>
          <b>{fact(q.samples)}</b> sampled accesses
        </span>
        <span>
          <b>{fact(q.traps)}</b> second accesses
        </span>
        <span>
          <b>{percent(q.overhead_fraction as number | null | undefined)}</b> of the JVM's CPU time spent, of {percent(report.window.budget)} allowed
        </span>
        <span>
          <b>{fact(q.dropped)}</b> of our events lost
        </span>
        {report.window.sampler_note && <p class="quiet small">{report.window.sampler_note}</p>}
        <p class="quiet small">
          <a href={linkTo(address, { view: "quality" })}>All that is known of it</a> · Estimates have their 95% interval beside them.
          What was <Term word="checked bytes" /> is part of the accesses of a <Term word="window" />.
        </p>
      </div>
    </>
  );
}
