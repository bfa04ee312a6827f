/* A row of a list, which opens to what is known of it. */
import type { ComponentChildren } from "preact";

interface Props {
  open: boolean;
  onToggle: () => void;
  head: ComponentChildren;
  kind?: string | undefined; // of waste, which colours it
  children: ComponentChildren; // what it opens to, or nothing while it is not open
}

export function Fold({ open, onToggle, head, kind, children }: Props) {
  return (
    <article class={open ? "row open" : "row"} data-kind={kind}>
      <button type="button" class="row-head" aria-expanded={open} onClick={onToggle}>
        {head}
      </button>
      {children}
    </article>
  );
}
