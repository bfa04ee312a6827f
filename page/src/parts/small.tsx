/* Small things that several views draw. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import type { KindName } from "../data/report.ts";
import { KIND_WORDS } from "../data/report.ts";

export function KindMark({ kind }: { kind: KindName }) {
  return (
    <span class="kind" data-kind={kind}>
      <span class="dot" aria-hidden="true" /> {KIND_WORDS[kind].title}
    </span>
  );
}

/* One of several that are chosen from. */
export function Choice({ pressed, onPress, children }: { pressed: boolean; onPress: () => void; children: ComponentChildren }) {
  return (
    <button type="button" class="choice" aria-pressed={pressed} onClick={onPress}>
      {children}
    </button>
  );
}

/* Says for a moment that it was done, or that the browser forbids it. */
export function CopyButton({ text, children }: { text: string; children: ComponentChildren }) {
  const [said, say] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say("copied");
    } catch {
      say("not allowed here");
    }
    setTimeout(() => say(""), 1500);
  };

  return (
    <button type="button" class="plain" onClick={copy}>
      <span aria-live="polite">{said || children}</span>
    </button>
  );
}

/* Why there is nothing, and what would fill it. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

const WORDS: Record<string, string> = {
  window: "the time for which a JVM was looked at",
  pair: "two accesses of one place that follow each other, each with its whole calling context",
  "checked bytes": "the bytes of accesses for which it is known what the next access did",
  tick: "one sample of what a thread does, taken at a point of its CPU time",
  spill: "a value that compiled code keeps on the stack as it has no register left",
};

export function Term({ word, children }: { word: string; children?: ComponentChildren }) {
  return <dfn title={WORDS[word]}>{children ?? word}</dfn>;
}
