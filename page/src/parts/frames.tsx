/* Calling contexts: frames leaf first, and two of them beside each other with what they share folded. */
import type { Contexts } from "../data/contexts.ts";
import type { Access, KindName } from "../data/report.ts";
import { KIND_WORDS } from "../data/report.ts";
import { longMethod, shortMethod } from "../data/text.ts";

function FrameLine({ contexts, id }: { contexts: Contexts; id: number }) {
  const frame = contexts.frame(id);

  return (
    <li title={longMethod(frame)}>
      <code>{shortMethod(frame)}</code>
      {frame.file && <span class="quiet"> {frame.line > 0 ? `${frame.file}:${frame.line}` : frame.file}</span>}
      {frame.tier === "interpreted" && <span class="quiet"> interpreted</span>}
    </li>
  );
}

export function FrameList({ contexts, ids }: { contexts: Contexts; ids: readonly number[] }) {
  return (
    <ol class="frames">
      {ids.map((id) => (
        <FrameLine key={id} contexts={contexts} id={id} />
      ))}
    </ol>
  );
}

const ATTRIBUTION: Record<string, string> = {
  exact: "the JVM noted this method for the instruction",
  checked: "the only one of the methods inlined there that can make the access",
  inferred: "several methods inlined there can make the access; this is the nearest",
  method: "inlined somewhere in this method",
  unknown: "what the JVM notes next",
};

function Side({ title, access, own, contexts }: { title: string; access: Access; own: number[]; contexts: Contexts }) {
  return (
    <section class="side">
      <h4>{title}</h4>
      {access.instruction && <pre class="instruction">{access.instruction}</pre>}
      <FrameList contexts={contexts} ids={own} />
      <p class="quiet small">
        {access.attribution && ATTRIBUTION[access.attribution] && `${access.attribution}: ${ATTRIBUTION[access.attribution]}`}
        {access.loop && ` · in the loop at ${shortMethod(access.loop)}:${access.loop.line}`}
      </p>
    </section>
  );
}

export function TwoContexts({ kind, watch, trap, contexts }: { kind: KindName; watch: Access; trap: Access; contexts: Contexts }) {
  const { own, others, common } = contexts.divide(watch.frames, trap.frames);
  const words = KIND_WORDS[kind];
  const first = common[0], last = common[common.length - 1];

  return (
    <div class="contexts" data-kind={kind}>
      <div class="sides">
        <Side title={words.watch} access={watch} own={own} contexts={contexts} />
        <Side title={words.trap} access={trap} own={others} contexts={contexts} />
      </div>
      {first !== undefined && last !== undefined && (
        <details>
          <summary>
            {common.length === 1 ? "1 frame" : `${common.length} frames`} in common, from {shortMethod(contexts.frame(first))} up to{" "}
            {shortMethod(contexts.frame(last))}
          </summary>
          <FrameList contexts={contexts} ids={common} />
        </details>
      )}
    </div>
  );
}
