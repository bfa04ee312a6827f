/*
 * A flame graph: a canvas, and beside it the same in words. What colours a frame is the kinds of waste in it, or how it
 * differs between two sides, which an arrow and a sign say as well.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";

import { buildFlame, flameFound, flameKind, type Flame, type FlameSample, type FlameShape } from "../data/flame.ts";
import { KINDS, KIND_WORDS } from "../data/report.ts";
import { longMethod, percent, points, shortMethod } from "../data/text.ts";
import type { Contexts } from "../data/contexts.ts";
import type { Shown } from "../page.ts";
import { linkTo, type Address, queryOf } from "../state.ts";
import { Choice, Empty } from "./small.tsx";

const ROW = 20; // pixels
const LEAST = 0.4; // a frame that is narrower is not drawn
const MOST_ROWS = 800; // a canvas has an end
const LISTED = 40;

/* kinds: colours are kinds of waste. before, after: the side whose widths are drawn; the other one is layer 0. */
export type FlameInk = "kinds" | "before" | "after" | "none";

interface Box {
  node: number;
  x: number;
  y: number;
  width: number;
}

/* The frames that are seen with root at full width, and its callers above it. */
function boxesOf(flame: Flame, root: number, width: number): Box[] {
  const boxes: Box[] = [];
  const scale = flame.width[root]! > 0 ? width / flame.width[root]! : 0;
  const stack = [root];

  for (let node = root; node !== 0; ) {
    node = flame.parent[node]!;
    boxes.push({ node, x: 0, y: flame.depth[node]! * ROW, width });
  }
  while (stack.length > 0) {
    const node = stack.pop()!;
    const w = flame.width[node]! * scale;

    if (w < LEAST || flame.depth[node]! >= MOST_ROWS) continue;
    boxes.push({ node, x: (flame.left[node]! - flame.left[root]!) * scale, y: flame.depth[node]! * ROW, width: w });
    for (const child of flame.children[node]!) stack.push(child);
  }
  return boxes;
}

interface Colours {
  kinds: string[];
  paper: string;
  plain: string;
  text: string;
  mark: string;
  font: string;
}

/* A variable says a colour for each theme: only what an element has of it is the theme's own. */
function coloursOf(element: HTMLElement): Colours {
  const style = getComputedStyle(element);
  const get = (name: string) => {
    element.style.color = `var(${name})`;
    return style.color;
  };

  return {
    kinds: [get("--dead"), get("--silent-store"), get("--silent-load")],
    paper: get("--card"),
    plain: get("--flame"),
    text: get("--ink"),
    mark: get("--mark"),
    font: `12px ${style.getPropertyValue("--mono")}`,
  };
}

function nameOf(contexts: Contexts, flame: Flame, node: number): string {
  return node === 0 ? "all" : shortMethod(contexts.names(flame.method[node]!));
}

/* As much of a name as there is room for, its end cut. */
function cut(text: string, width: number, character: number): string {
  const room = Math.floor((width - 8) / character);

  if (room < 3) return "";
  return text.length <= room ? text : `${text.slice(0, room - 1)}…`;
}

/* How strongly a frame is coloured: where all width is waste (part is 1) by what is its own, else by how much is waste. */
function strength(flame: Flame, node: number, part: number): number {
  return part < 0.999 ? 0.12 + 0.6 * part : 0.25 + (0.5 * flame.own[node]!) / flame.width[node]!;
}

/* By how much a frame's part of its side is more (or, below 0, less) than it is on the other side. */
function growth(flame: Flame, node: number, ink: FlameInk): number {
  const other = flame.layers[0]?.[node] ?? 0;

  return ink === "after" ? flame.width[node]! - other : other - flame.width[node]!;
}

/* What is less than this is no change that a picture should show. */
const CHANGED = 0.005;

function arrow(flame: Flame, node: number, ink: FlameInk): string {
  if (node === 0 || ink === "kinds" || ink === "none") return "";
  const change = growth(flame, node, ink);

  if (Math.abs(change) < CHANGED) return "";
  if (flame.layers[0]![node] === 0) return ink === "after" ? "▲ new: " : "▼ gone: ";
  return change > 0 ? "▲ " : "▼ ";
}

function paint(
  canvas: HTMLCanvasElement,
  flame: Flame,
  contexts: Contexts,
  boxes: Box[],
  ink: FlameInk,
  found: ((method: number) => boolean) | null,
  chosen: number,
): void {
  const context = canvas.getContext("2d");
  const colours = coloursOf(canvas);
  const scale = devicePixelRatio || 1;

  if (!context) return;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.font = colours.font;
  context.textBaseline = "middle";
  const character = context.measureText("m").width;

  for (const box of boxes) {
    const { kind, part } = ink === "kinds" ? flameKind(flame, box.node) : { kind: -1, part: 0 };
    const sign = arrow(flame, box.node, ink);
    const width = Math.max(box.width - 1, LEAST);

    context.fillStyle = colours.plain;
    context.fillRect(box.x, box.y, width, ROW - 1);
    if (kind >= 0 && box.node !== 0) {
      context.globalAlpha = strength(flame, box.node, part);
      context.fillStyle = colours.kinds[kind]!;
      context.fillRect(box.x, box.y, width, ROW - 1);
      context.globalAlpha = 1;
    }
    if (sign) {
      context.globalAlpha = Math.min(0.35, 0.1 + Math.abs(growth(flame, box.node, ink)));
      context.fillStyle = colours.text;
      context.fillRect(box.x, box.y, width, ROW - 1);
      context.globalAlpha = 1;
    }
    if (found && box.node !== 0 && found(flame.method[box.node]!)) {
      context.fillStyle = colours.mark;
      context.fillRect(box.x, box.y, width, 4);
    }
    if (box.node === chosen && chosen !== 0) {
      context.strokeStyle = colours.text;
      context.lineWidth = 2;
      context.strokeRect(box.x + 1, box.y + 1, Math.max(width - 2, 1), ROW - 3);
    }
    const text = cut(sign + nameOf(contexts, flame, box.node), box.width, character);

    if (text) {
      context.fillStyle = colours.text;
      context.fillText(text, box.x + 4, box.y + ROW / 2);
    }
  }
}

export function shapeOf({ shape, focus }: Address): FlameShape {
  const method = Number(focus);

  if (method > 0) return { as: "callees-of", method };
  return { as: shape === "callers" ? "callers" : "callees" };
}

/* Which way it is read, and the ways back. Children are what else there is to choose. */
export function FlameControls({ contexts, address, go, children }: Shown & { contexts: Contexts; children?: ComponentChildren }) {
  const shape = shapeOf(address);

  return (
    <div class="controls">
      {children}
      <Choice pressed={shape.as === "callers"} onPress={() => go({ shape: shape.as === "callers" ? "callees" : "callers", focus: "", zoom: "" })}>
        Inverted
      </Choice>
      {address.zoom && (
        <button type="button" class="plain" onClick={() => go({ zoom: "" })}>
          Whole graph
        </button>
      )}
      {"method" in shape && (
        <button type="button" class="plain" onClick={() => go({ focus: "", zoom: "" })}>
          Leave {shortMethod(contexts.names(shape.method))}
        </button>
      )}
    </div>
  );
}

interface Props extends Shown {
  contexts: Contexts;
  samples: readonly FlameSample[];
  ink: FlameInk;
  title: string;
  unit: string; // "of CPU time"
  shape: FlameShape;
  pairs?: boolean; // there is a view of them
}

/* A graph; of one method two, its callers and what it calls. */
export function FlameGraph(props: Props) {
  const { shape } = props;

  if (!("method" in shape)) return <Graph {...props} title={`${props.title}${shape.as === "callers" ? ", from the leaves" : ""}`} />;
  return (
    <>
      <Graph {...props} shape={{ as: "callers-of", method: shape.method }} title="Who calls it" />
      <Graph {...props} shape={{ as: "callees-of", method: shape.method }} title="What it calls" />
    </>
  );
}

function Graph({ contexts, samples, ink, title, unit, shape, pairs, address, go }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [chosen, choose] = useState(0);
  const [painted, repaint] = useReducer((times: number) => times + 1, 0);
  const flame = useMemo(
    () => buildFlame(contexts, samples, shape, ink === "kinds" ? KINDS.length : 1),
    [samples, ink, JSON.stringify(shape)],
  );
  const whole = shape.as === "callees" || shape.as === "callers";
  const zoomed = Number(address.zoom);
  const zoom = whole && Number.isInteger(zoomed) && zoomed > 0 && zoomed < flame.count ? zoomed : 0;
  const query = queryOf(address);
  const found = useMemo(() => {
    if (!query) return null;
    const marked = Array.from({ length: contexts.methodCount + 1 }, (_, m) => {
      const names = contexts.names(m);

      return `${longMethod(names)} ${names.file}`.toLowerCase().includes(query);
    });

    return (method: number) => marked[method] ?? false;
  }, [contexts, query]);
  const listed = useMemo(
    () =>
      [...flame.width.keys()]
        .slice(1)
        .sort((a, b) => flame.width[b]! - flame.width[a]!)
        .slice(0, LISTED),
    [flame],
  );
  const boxes = useMemo(() => boxesOf(flame, zoom, width), [flame, zoom, width]);
  const rows = boxes.reduce((most, box) => Math.max(most, box.y / ROW + 1), 1);

  useEffect(() => choose(0), [flame, zoom]);
  useLayoutEffect(() => {
    const element = canvas.current?.parentElement;

    if (!element) return;
    const watch = new ResizeObserver(() => setWidth(element.clientWidth));

    setWidth(element.clientWidth);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    const media = ["print", "(prefers-color-scheme: dark)"].map((query) => matchMedia(query));

    for (const one of media) one.addEventListener("change", repaint);
    return () => media.forEach((one) => one.removeEventListener("change", repaint));
  }, []);
  useLayoutEffect(() => {
    const element = canvas.current;

    if (!element || width === 0) return;
    element.width = Math.round(width * (devicePixelRatio || 1));
    element.height = Math.round(rows * ROW * (devicePixelRatio || 1));
    paint(element, flame, contexts, boxes, ink, found, chosen);
  }, [flame, boxes, found, chosen, width, rows, address.theme, painted]);

  const at = (event: MouseEvent): number => {
    const box = canvas.current!.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;

    return boxes.find((b) => y >= b.y && y < b.y + ROW && x >= b.x && x < b.x + Math.max(b.width, 1))?.node ?? -1;
  };
  const zoomTo = (node: number) => whole && go({ zoom: node > 0 ? String(node) : "" });
  const walk = (event: KeyboardEvent) => {
    const siblings = [...flame.children[flame.parent[chosen]!]!];
    const place = siblings.indexOf(chosen);
    const widest = [...flame.children[chosen]!].sort((a, b) => flame.width[b]! - flame.width[a]!)[0];
    const next: Record<string, number | undefined> = {
      ArrowDown: widest,
      ArrowUp: chosen === zoom ? chosen : flame.parent[chosen],
      ArrowLeft: chosen ? siblings[place - 1] : undefined,
      ArrowRight: chosen ? siblings[place + 1] : undefined,
    };

    if (event.key === "Enter") zoomTo(chosen);
    else if (!(event.key in next)) return;
    else choose(next[event.key] ?? chosen);
    event.preventDefault();
    event.stopPropagation();
  };

  if (flame.total === 0)
    return (
      <Empty>
        {shape.as === "callees-of" || shape.as === "callers-of" ? "This method is in no context of this cost." : "Nothing of this cost was seen."}
      </Empty>
    );
  const names = contexts.names(flame.method[chosen]!);
  const waste = ink === "kinds" ? KINDS.map((kind, i) => ({ kind, value: flame.layers[i]![chosen]! })).filter((w) => w.value > 0) : [];

  return (
    <figure class="flame">
      <figcaption>
        {title}
        {found && ` · "${address.q}" is in ${percent(flameFound(flame, found, zoom))} of ${zoom ? "this frame" : "it"}`}
      </figcaption>
      <div class="flame-box">
        <canvas
          ref={canvas}
          tabIndex={0}
          role="img"
          aria-label={`${title}: ${flame.count - 1} frames. Arrow keys choose a frame, Enter zooms.`}
          style={{ height: `${rows * ROW}px` }}
          onClick={(e) => {
            const node = at(e);

            if (node >= 0) {
              choose(node);
              zoomTo(node);
            }
          }}
          onMouseMove={(e) => {
            const node = at(e);

            if (node >= 0) choose(node);
          }}
          onKeyDown={walk}
        />
      </div>
      <p class="flame-said" role="status">
        {chosen === 0 ? (
          <span class="quiet">Choose a frame: a click zooms into it, Esc comes back.</span>
        ) : (
          <>
            <code>{longMethod(names)}</code> {percent(flame.width[chosen]! / flame.total)} {unit}
            {flame.own[chosen]! > 0 && `, ${percent(flame.own[chosen]! / flame.total)} by itself`}
            {(ink === "before" || ink === "after") && `, ${arrow(flame, chosen, ink)}${points(growth(flame, chosen, ink))} points`}
            {waste.map((w) => (
              <span key={w.kind} class="kind small" data-kind={w.kind}>
                {" "}
                <span class="dot" aria-hidden="true" /> {KIND_WORDS[w.kind].title.toLowerCase()} {percent(w.value / flame.total)}
              </span>
            ))}{" "}
            <a href={linkTo(address, { focus: String(flame.method[chosen]), zoom: "" })}>callers and callees</a>{" "}
            {pairs && <a href={linkTo(address, { view: "pairs", q: longMethod(names) })}>its pairs</a>}
          </>
        )}
      </p>
      <div class="unseen">
       <table>
        <caption>{title}: the frames with most of it</caption>
        <tbody>
          {listed.map((node) => (
              <tr key={node}>
                <th scope="row">{longMethod(contexts.names(flame.method[node]!))}</th>
                <td>{percent(flame.width[node]! / flame.total)}</td>
              </tr>
            ))}
        </tbody>
       </table>
      </div>
    </figure>
  );
}
