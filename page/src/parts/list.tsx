/* A long list of which only what is seen is in the document. Rows may have any height, which is measured. */
import {
  Virtualizer,
  measureElement,
  observeWindowOffset,
  observeWindowRect,
  windowScroll,
} from "@tanstack/virtual-core";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useReducer, useRef } from "preact/hooks";

interface Props<T> {
  rows: readonly T[];
  height: number; // of a row that is not open, about
  keyOf: (row: T) => string;
  selected: number; // is scrolled to when it changes; -1 for none
  children: (row: T, index: number) => ComponentChildren;
}

export function List<T>({ rows, height, keyOf, selected, children }: Props<T>) {
  const [, draw] = useReducer((n: number) => n + 1, 0);
  const box = useRef<HTMLDivElement>(null);
  const virtual = useRef<Virtualizer<Window, HTMLElement> | null>(null);
  const options = {
    count: rows.length,
    estimateSize: () => height,
    getItemKey: (i: number) => (rows[i] === undefined ? i : keyOf(rows[i])),
    overscan: 6,
    getScrollElement: () => window,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
    measureElement,
    scrollMargin: box.current?.offsetTop ?? 0,
    initialRect: { width: innerWidth, height: innerHeight },
    onChange: () => draw(undefined),
  };

  if (!virtual.current) virtual.current = new Virtualizer<Window, HTMLElement>(options);
  virtual.current.setOptions(options);
  const v = virtual.current;

  useLayoutEffect(() => v._didMount(), []);
  useLayoutEffect(() => v._willUpdate());
  useEffect(() => {
    if (selected >= 0 && selected < rows.length) v.scrollToIndex(selected, { align: "auto" });
  }, [selected]);
  return (
    <div ref={box} class="list" role="list" style={{ height: `${v.getTotalSize()}px` }}>
      {v.getVirtualItems().map((item) => {
        const row = rows[item.index];

        if (row === undefined) return null;
        return (
          <div
            key={item.key}
            data-index={item.index}
            ref={(element) => v.measureElement(element)}
            role="listitem"
            aria-setsize={rows.length}
            aria-posinset={item.index + 1}
            class="item"
            style={{ transform: `translateY(${item.start - v.options.scrollMargin}px)` }}
          >
            {children(row, item.index)}
          </div>
        );
      })}
    </div>
  );
}
