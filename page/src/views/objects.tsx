/* Fields and objects: which classes are accessed, their fields, who accesses them, and where they come from. */
import { useMemo, useRef } from "preact/hooks";

import { KINDS, KIND_WORDS, type ClassField, type ClassOf, type KindName, type Place, type Report, type Site } from "../data/report.ts";
import { bytes, count, percent, shortClass, shortMethod, shortPlace } from "../data/text.ts";
import type { Contexts } from "../data/contexts.ts";
import type { Model, ViewProps } from "../model.ts";
import { FrameList } from "../parts/frames.tsx";
import { Estimate, scaleOf } from "../parts/interval.tsx";
import { Empty } from "../parts/small.tsx";
import { Fold } from "../parts/fold.tsx";
import { Layout } from "../parts/layout.tsx";
import { queryOf } from "../state.ts";

const SHOWN = 60;

/* A field of a class is another one in a class that has it from there. */
function keyOf(place: Place): string {
  return `${place.class} ${place.declared_in} ${place.kind} ${place.field}`;
}

/* Wasteful pairs by place and kind. */
function wasteByPlace(report: Report): Map<string, Partial<Record<KindName, number>>> {
  const places = new Map<string, Partial<Record<KindName, number>>>();

  for (const kind of report.inefficiency)
    for (const pair of kind.pairs) {
      if (!pair?.watch.location) continue;
      const key = keyOf(pair.watch.location);
      const waste = places.get(key) ?? {};

      waste[kind.kind] = (waste[kind.kind] ?? 0) + pair.wasteful_count;
      places.set(key, waste);
    }
  return places;
}

function Path({ contexts, context, children }: { contexts: Contexts; context: number; children: preact.ComponentChildren }) {
  const path = contexts.path(context);

  return (
    <details class="path">
      <summary>
        {children} <code>{path[0] ? shortMethod(contexts.frame(path[0])) : "an empty context"}</code>
        {path[0] && contexts.frame(path[0]).line > 0 && <span class="quiet">:{contexts.frame(path[0]).line}</span>}
      </summary>
      <FrameList contexts={contexts} ids={path} />
    </details>
  );
}

function Field({ field, of, max, waste, contexts }: { field: ClassField; of: string; max: number; waste: Partial<Record<KindName, number>>; contexts: Contexts }) {
  const name = shortPlace({ ...field, class: of });

  return (
    <li class="field" tabIndex={-1}>
      <div class="field-head">
        <span>
          <code title={`${field.type} ${field.field}`}>{name}</code> <span class="quiet small">{shortClass(field.type)}</span>
        </span>
        <Estimate value={field.fraction} ci={field.fraction_ci95} max={max} />
        <span class="wastes small">
          {KINDS.filter((kind) => waste[kind]).map((kind) => (
            <span key={kind} class="kind" data-kind={kind}>
              <span class="dot" aria-hidden="true" /> {KIND_WORDS[kind].title.toLowerCase()}: {waste[kind]}
            </span>
          ))}
        </span>
      </div>
      {field.accesses.filter(Boolean).map((access, i) => (
        <Path key={i} contexts={contexts} context={access.frames}>
          {percent(access.fraction)} in
        </Path>
      ))}
    </li>
  );
}

function ClassBody({ of, model, waste }: { of: ClassOf; model: Model; waste: ReturnType<typeof wasteByPlace> }) {
  const max = scaleOf(of.fields.map((field) => field?.fraction_ci95));
  const { origin } = of;
  const list = useRef<HTMLUListElement>(null);
  const wasteOf = (field: ClassField) => waste.get(keyOf({ ...field, class: of.class })) ?? {};
  const show = (field: ClassField) => {
    const item = list.current?.children[of.fields.filter(Boolean).indexOf(field)];

    item?.scrollIntoView({ block: "nearest" });
    if (item instanceof HTMLElement) item.focus();
  };

  return (
    <div class="row-body">
      <Layout of={of} wasteOf={wasteOf} onChoose={show} />
      <h4>What of it is accessed, in parts of all accesses to the heap</h4>
      <ul class="plain" ref={list}>
        {of.fields.filter(Boolean).map((field, i) => (
          <Field
            key={i}
            field={field}
            of={of.class}
            max={max}
            waste={wasteOf(field)}
            contexts={model.contexts}
          />
        ))}
      </ul>
      <h4>Where its objects are allocated</h4>
      {origin && origin.sites.length > 0 ? (
        <>
          <p class="quiet small">
            {origin.basis}
            {origin.assumption && `: ${origin.assumption}`}
          </p>
          {origin.sites.filter(Boolean).map((site, i) => (
            <Path key={i} contexts={model.contexts} context={site.alloc_frames}>
              {percent(site.share)} in
            </Path>
          ))}
        </>
      ) : (
        <p class="quiet">not known: no allocation of this class was sampled</p>
      )}
    </div>
  );
}

function ClassRow({ of, model, max, open, waste, onToggle }: { of: ClassOf; model: Model; max: number; open: boolean; waste: ReturnType<typeof wasteByPlace>; onToggle: () => void }) {
  return (
    <Fold open={open} onToggle={onToggle}
      head={
        <>
          <span class="what">
            <code title={of.class}>{shortClass(of.class)}</code>
            <span class="quiet small">
              {of.fields.length} {of.fields.length === 1 ? "place" : "places"}
              {of.older_known && of.older_fraction > 0 && `, ${percent(of.older_fraction)} in objects from before the window`}
            </span>
          </span>
          <Estimate value={of.fraction} ci={of.fraction_ci95} max={max} />
          <span class="counts">{count(of.samples)} samples</span>
        </>
      }
    >
      {open && <ClassBody of={of} model={model} waste={waste} />}
    </Fold>
  );
}

function SiteRow({ site, model, open, onToggle }: { site: Site; model: Model; open: boolean; onToggle: () => void }) {
  const leaf = model.contexts.frame(site.alloc_frames);

  return (
    <Fold open={open} onToggle={onToggle}
      head={
        <>
          <span class="what">
            <code title={site.class}>{shortClass(site.class)}</code>
            <code class="quiet lines">
              {shortMethod(leaf)}
              {leaf.line > 0 && `:${leaf.line}`}
            </code>
          </span>
          <span>{bytes(site.alloc_bytes)} allocated</span>
          <span class="counts">{site.samples > 0 ? `${percent(site.fraction)} of accesses` : "no access sampled"}</span>
        </>
      }
    >
      {open && (
        <div class="row-body">
          <p class="quiet small">
            {site.live_bytes === null ? "what lives of it is not known" : `${bytes(site.live_bytes)} were alive at the end`} ·{" "}
            {count(site.alloc_samples)} sampled allocations
          </p>
          <FrameList contexts={model.contexts} ids={model.contexts.path(site.alloc_frames)} />
        </div>
      )}
    </Fold>
  );
}

export function Objects({ model, address, go }: ViewProps) {
  const { report, contexts } = model;
  const query = queryOf(address);
  const waste = useMemo(() => wasteByPlace(report), [report]);
  const inContext = useMemo(() => (query ? contexts.found(query) : new Uint8Array()), [contexts, query]);
  const found = (name: string, context: number) => !query || name.toLowerCase().includes(query) || inContext[context] === 1;
  const classes = report.classes.filter((c) => c && (found(c.class, 0) || c.fields.some((f) => f && found(f.field || "\n", 0))));
  const sites = report.objects.filter((s) => s && found(s.class, s.alloc_frames));
  const max = scaleOf(classes.map((c) => c.fraction_ci95));
  const toggle = (id: string) => go({ open: address.open === id ? "" : id });

  if (!report.objects_summary)
    return (
      <Empty>
        Objects were not looked at: <code>--kinds objects</code>.
      </Empty>
    );
  return (
    <>
      <h2>Classes, by accesses to the heap</h2>
      {classes.length === 0 && <Empty>No class here has "{address.q}" in its name, or no access to the heap was sampled.</Empty>}
      {classes.slice(0, SHOWN).map((c) => (
        <ClassRow key={c.class} of={c} model={model} max={max} waste={waste} open={address.open === `class-${c.class}`} onToggle={() => toggle(`class-${c.class}`)} />
      ))}
      {classes.length > SHOWN && <p class="quiet">{classes.length - SHOWN} more, with less: search for a name.</p>}
      <h2>Where objects are allocated</h2>
      {sites.length === 0 && <Empty>No sampled allocation has "{address.q}" in its class or callers.</Empty>}
      {sites.slice(0, SHOWN).map((site) => {
        const id = `site-${report.objects.indexOf(site)}`;

        return <SiteRow key={id} site={site} model={model} open={address.open === id} onToggle={() => toggle(id)} />;
      })}
      {sites.length > SHOWN && <p class="quiet">{sites.length - SHOWN} more, with less: search for a name.</p>}
    </>
  );
}
