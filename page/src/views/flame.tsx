/* The flame graph: a canvas, and beside it the same in words. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { buildFlame, flameFound, flameKind, flameSamples, type Flame, type FlameCost, type FlameShape } from "../data/flame.ts";
import { KINDS, KIND_WORDS } from "../data/report.ts";
import { longMethod, percent, shortMethod } from "../data/text.ts";
import type { Contexts } from "../data/contexts.ts";
import type { ViewProps } from "../model.ts";
import { linkTo } from "../state.ts";
import { Choice, Empty } from "../parts/small.tsx";

const ROW = 20; // pixels
const LEAST = 0.4; // a frame that is narrower is not drawn
const MOST_ROWS = 800; // a canvas has an end
const LISTED = 40;

const COSTS: Record<FlameCost, string> = { waste: "Wasteful CPU time", cpu: "CPU time", objects: "Allocated bytes" };
const UNITS: Record<FlameCost, string> = { waste: "of wasteful CPU time", cpu: "of CPU time", objects: "of allocated bytes" };

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

interface Ink {
  kinds: string[];
  paper: string;
  plain: string;
  text: string;
  mark: string;
  font: string;
}

function inkOf(element: Element): Ink {
  const style = getComputedStyle(element);
  const get = (name: string) => style.getPropertyValue(name).trim();

  return {
    kinds: [get("--dead"), get("--silent-store"), get("--silent-load")],
    paper: get("--card"),
    plain: get("--flame"),
    text: get("--ink"),
    mark: get("--mark"),
    font: `12px ${get("--mono")}`,
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

function paint(canvas: HTMLCanvasElement, flame: Flame, contexts: Contexts, boxes: Box[], found: ((method: number) => boolean) | null, chosen: number): void {
  const context = canvas.getContext("2d");
  const ink = inkOf(canvas);
  const scale = devicePixelRatio || 1;

  if (!context) return;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.font = ink.font;
  context.textBaseline = "middle";
  const character = context.measureText("m").width;

  for (const box of boxes) {
    const { kind, part } = flameKind(flame, box.node);
    const width = Math.max(box.width - 1, LEAST);

    context.fillStyle = ink.plain;
    context.fillRect(box.x, box.y, width, ROW - 1);
    if (kind >= 0 && box.node !== 0) {
      context.globalAlpha = strength(flame, box.node, part);
      context.fillStyle = ink.kinds[kind]!;
      context.fillRect(box.x, box.y, width, ROW - 1);
      context.globalAlpha = 1;
    }
    if (found && box.node !== 0 && found(flame.method[box.node]!)) {
      context.fillStyle = ink.mark;
      context.fillRect(box.x, box.y, width, 4);
    }
    if (box.node === chosen && chosen !== 0) {
      context.strokeStyle = ink.text;
      context.lineWidth = 2;
      context.strokeRect(box.x + 1, box.y + 1, Math.max(width - 2, 1), ROW - 3);
    }
    const text = cut(nameOf(contexts, flame, box.node), box.width, character);

    if (text) {
      context.fillStyle = ink.text;
      context.fillText(text, box.x + 4, box.y + ROW / 2);
    }
  }
}

function shapeOf(shape: string, focus: string): FlameShape {
  const method = Number(focus);

  if (shape === "callers") return { as: "callers" };
  if ((shape === "callees-of" || shape === "callers-of") && method > 0) return { as: shape, method };
  return { as: "callees" };
}

function Graph({ model, address, go, cost, shape, title }: ViewProps & { cost: FlameCost; shape: FlameShape; title: string }) {
  const { contexts } = model;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [chosen, choose] = useState(0);
  const samples = useMemo(() => flameSamples(model.report, cost), [model, cost]);
  const flame = useMemo(() => buildFlame(contexts, samples, shape), [samples, JSON.stringify(shape)]);
  const whole = shape.as === "callees" || shape.as === "callers";
  const zoom = whole && Number(address.zoom) < flame.count ? Number(address.zoom) || 0 : 0;
  const query = address.q.trim().toLowerCase();
  const found = useMemo(() => {
    if (!query) return null;
    const marked = Array.from({ length: contexts.methodCount + 1 }, (_, m) => {
      const names = contexts.names(m);

      return `${longMethod(names)} ${names.file}`.toLowerCase().includes(query);
    });

    return (method: number) => marked[method] ?? false;
  }, [contexts, query]);
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
  useLayoutEffect(() => {
    const element = canvas.current;

    if (!element || width === 0) return;
    element.width = Math.round(width * (devicePixelRatio || 1));
    element.height = Math.round(rows * ROW * (devicePixelRatio || 1));
    paint(element, flame, contexts, boxes, found, chosen);
  }, [flame, boxes, found, chosen, width, rows, address.theme]);

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
  const waste = KINDS.map((kind, i) => ({ kind, value: flame.waste[i]![chosen]! })).filter((w) => w.value > 0 && cost !== "objects");

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
            <code>{longMethod(names)}</code> {percent(flame.width[chosen]! / flame.total)} {UNITS[cost]}
            {flame.own[chosen]! > 0 && `, ${percent(flame.own[chosen]! / flame.total)} by itself`}
            {waste.map((w) => (
              <span key={w.kind} class="kind small" data-kind={w.kind}>
                {" "}
                <span class="dot" aria-hidden="true" /> {KIND_WORDS[w.kind].title.toLowerCase()} {percent(w.value)}
              </span>
            ))}{" "}
            <a href={linkTo(address, { shape: "callees-of", focus: String(flame.method[chosen]), zoom: "" })}>callers and callees</a>{" "}
            <a href={linkTo(address, { view: "pairs", q: longMethod(names) })}>its pairs</a>
          </>
        )}
      </p>
      <div class="unseen">
       <table>
        <caption>{title}: the frames with most of it</caption>
        <tbody>
          {[...flame.width.keys()]
            .slice(1)
            .sort((a, b) => flame.width[b]! - flame.width[a]!)
            .slice(0, LISTED)
            .map((node) => (
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

export function FlameView(props: ViewProps) {
  const { model, address, go } = props;
  const available: FlameCost[] = [];

  if (model.pairs.length > 0) available.push("waste");
  if (model.report.cpu?.contexts.length) available.push("cpu");
  if (model.report.objects.length > 0) available.push("objects");
  const cost = available.find((c) => c === address.cost) ?? available[0];
  const shape = shapeOf(address.shape, address.focus);

  if (!cost) return <Empty>This window has no calling contexts: it saw no tick, pair or allocation.</Empty>;
  return (
    <>
      <h2 class="unseen">Flame graph</h2>
      <div class="controls">
        {available.map((c) => (
          <Choice key={c} pressed={c === cost} onPress={() => go({ cost: c, zoom: "" })}>
            {COSTS[c]}
          </Choice>
        ))}
        <Choice pressed={shape.as === "callers"} onPress={() => go({ shape: shape.as === "callers" ? "callees" : "callers", focus: "", zoom: "" })}>
          Inverted
        </Choice>
        {address.zoom && (
          <button type="button" class="plain" onClick={() => go({ zoom: "" })}>
            Whole graph
          </button>
        )}
        {"method" in shape && (
          <button type="button" class="plain" onClick={() => go({ shape: "callees", focus: "", zoom: "" })}>
            Leave {shortMethod(model.contexts.names(shape.method))}
          </button>
        )}
        {cost !== "objects" && (
          <span class="legend small">
            {KINDS.map((kind) => (
              <span key={kind} class="kind" data-kind={kind}>
                <span class="dot" aria-hidden="true" /> {KIND_WORDS[kind].title.toLowerCase()}
              </span>
            ))}
          </span>
        )}
      </div>
      {"method" in shape ? (
        <>
          <Graph {...props} cost={cost} shape={{ as: "callers-of", method: shape.method }} title="Who calls it" />
          <Graph {...props} cost={cost} shape={{ as: "callees-of", method: shape.method }} title="What it calls" />
        </>
      ) : (
        <Graph {...props} cost={cost} shape={shape} title={`${COSTS[cost]}${shape.as === "callers" ? ", from the leaves" : ""}`} />
      )}
    </>
  );
}
