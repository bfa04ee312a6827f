/* Objects of a class as bars of their fields in the order in which they lie, as wide as they are long, shaded by what part
   of the class's accesses and of its waste each has. */
import { useState } from "preact/hooks";

import { KINDS, KIND_WORDS, type ClassField, type ClassOf, type KindName } from "../data/report.ts";
import { ROW_BYTES, layoutOf, type Cell } from "../data/layout.ts";
import { percent, shortClass, shortPlace } from "../data/text.ts";

type Waste = Partial<Record<KindName, number>>;

interface Props {
  of: ClassOf;
  wasteOf: (field: ClassField) => Waste;
  onChoose: (field: ClassField) => void;
}

interface Shade {
  kind?: KindName; // none: accesses
  words: string;
  partOf: (field: ClassField) => number;
  most: number;
}

/* Accesses, and each kind of waste that is there. */
function shadesOf(of: ClassOf, wasteOf: Props["wasteOf"]): Shade[] {
  const fields = of.fields.filter(Boolean);
  const shades: Shade[] = [{ words: "accesses", partOf: (field) => field.fraction / of.fraction, most: 0 }];

  for (const kind of KINDS) {
    const whole = fields.reduce((sum, field) => sum + (wasteOf(field)[kind] ?? 0), 0);

    if (whole > 0) shades.push({ kind, words: KIND_WORDS[kind].title.toLowerCase(), partOf: (field) => (wasteOf(field)[kind] ?? 0) / whole, most: 0 });
  }
  return shades.map((shade) => ({ ...shade, most: Math.max(...fields.map(shade.partOf)) }));
}

export function Layout({ of, wasteOf, onChoose }: Props) {
  const [said, say] = useState("");
  const rows = layoutOf(of);
  const shades = shadesOf(of, wasteOf);

  function sentence({ start, end, field }: Cell): string {
    const where = end - start === 1 ? `byte ${start}` : `bytes ${start} to ${end - 1}`;

    if (!field) return `${where}: no access is listed here. ${start === 0 ? "The header, padding" : "Padding"}, or fields that are seldom used`;
    const name = `${shortPlace({ ...field, class: of.class })}, ${field.kind === "header" ? field.field : shortClass(field.type)}`;
    const parts = shades.map(({ words, partOf }) => `${percent(partOf(field))} of ${words}`);

    return `${where}: ${name}; of what the class has, ${parts.join(", ")}`;
  }

  function cell(c: Cell, from: number) {
    const { start, end, field } = c;
    const text = sentence(c);
    /* Rows that nobody touched are one, as wide as one. */
    const place = { gridColumn: `${start - from + 1} / span ${Math.min(end - start, ROW_BYTES)}` };
    const told = { title: text, "aria-label": text, style: place, onMouseEnter: () => say(text), onFocus: () => say(text) };

    if (!field) return <span key={start} class="cell gap" role="img" {...told} />;
    return (
      <button key={start} type="button" class="cell" {...told} onClick={() => onChoose(field)}>
        <code>{field.field}</code>
        {shades.map(({ kind, partOf, most }) => (
          <span key={kind} class="shade" data-kind={kind} style={{ "--part": partOf(field) / most }} />
        ))}
      </button>
    );
  }

  if (rows.length === 0 || !of.size) return null;
  return (
    <div class="layout">
      <h4>
        An object of it: {of.size} bytes{of.size > ROW_BYTES && `, ${ROW_BYTES} in a row`}
      </h4>
      <p class="legend small">
        <span>Shaded by part of the class's:</span>
        {shades.map(({ kind, words }) => (
          <span key={kind} class="kind" data-kind={kind}>
            <span class="dot" aria-hidden="true" /> {words}
          </span>
        ))}
      </p>
      {rows.map((row) => (
        <div key={row[0]!.start} class="bytes" style={{ "--bytes": Math.min(of.size ?? 0, ROW_BYTES) }}>
          <span class="quiet small">{row[0]!.start}</span>
          <div class="cells">{row.map((c) => cell(c, row[0]!.start))}</div>
        </div>
      ))}
      <p class="quiet small said" aria-hidden="true">{said || "Point at a field, or go there with Tab."}</p>
    </div>
  );
}
