/* Objects of a class byte by byte: which fields lie where, in rows as long as a cache line. */
import type { ClassField, ClassOf } from "./report.ts";

export const ROW_BYTES = 64;

/* Of a field, or of bytes of which no field is listed. */
export interface Cell {
  start: number;
  end: number;
  field: ClassField | null;
}

/* No rows where the layout is not known. Rows without a field are one cell together. */
export function layoutOf(of: ClassOf): Cell[][] {
  const size = of.size ?? 0;
  const rows: Cell[][] = [];
  let end = 0;

  const push = (cell: Cell) => {
    if (cell.start % ROW_BYTES === 0) rows.push([cell]);
    else rows.at(-1)?.push(cell);
    end = cell.end;
  };
  const gap = (to: number) => {
    const rest = Math.min(to, Math.ceil(end / ROW_BYTES) * ROW_BYTES);
    const whole = Math.floor(to / ROW_BYTES) * ROW_BYTES;

    for (const until of [rest, whole, to]) if (until > end) push({ start: end, end: until, field: null });
  };

  for (const field of of.fields.filter((f) => f?.offset !== undefined && f.size).sort((a, b) => a.offset! - b.offset!)) {
    const start = field.offset!;
    const until = start + field.size!;

    /* Each lies in one row, as aligned as it is. */
    if (start < end || until > size || start % ROW_BYTES > (until - 1) % ROW_BYTES) continue;
    gap(start);
    push({ start, end: until, field });
  }
  if (rows.length > 0) gap(size);
  return rows;
}
