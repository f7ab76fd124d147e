import { clean } from './clean.ts';
import type { Colors, Output } from './output.ts';

export type Column<Item> = {
  title: string;
  value(item: Item): string;
  isRight?: boolean;
  paint?(text: string, colors: Colors): string;
};

/** Prints rows page by page, so the first page appears before the second is fetched. Columns never shrink. */
export function createTable<Item>(out: Output, columns: readonly Column<Item>[]) {
  let widths: number[] | null = null;
  return (items: readonly Item[]) => {
    const rows = items.map((item) => columns.map((column) => clean(column.value(item))));
    const isFirst = widths === null;
    const old = widths ?? columns.map(({ title }) => title.length);
    widths = old.map((width, index) => Math.max(width, ...rows.map((row) => lengthOf(row[index] ?? ''))));
    if (isFirst) {
      const titles = columns.map(({ title }, index) => pad(title, widths?.[index] ?? 0, columns[index]));
      out.line(out.colors.bold(titles.join('  ').trimEnd()));
    }
    for (const row of rows) out.line(formatRow(row, columns, widths, out.colors));
  };
}

export type Field = readonly [label: string, value: string, paint?: (text: string, colors: Colors) => string];

/** Prints one field per line, or with --json the resource as a document. */
export function printResource(out: Output, resource: object, fields: readonly Field[]): void {
  if (out.isJson) out.json(resource);
  else printFields(out, fields);
}

export function printFields(out: Output, fields: readonly Field[]): void {
  const width = Math.max(...fields.map(([label]) => label.length));
  for (const [label, value, paint] of fields) {
    const text = clean(value);
    out.line(`${out.colors.dim(label.padEnd(width))}  ${paint ? paint(text, out.colors) : text}`);
  }
}

function formatRow<Item>(
  row: readonly string[],
  columns: readonly Column<Item>[],
  widths: readonly number[],
  colors: Colors,
): string {
  const cells = row.map((cell, index) => {
    const column = columns[index];
    const isLast = index === row.length - 1;
    const padded = isLast && !column?.isRight ? cell : pad(cell, widths[index] ?? 0, column);
    return column?.paint ? column.paint(padded, colors) : padded;
  });
  return cells.join('  ').trimEnd();
}

function pad(text: string, width: number, column: { isRight?: boolean } | undefined): string {
  const gap = ' '.repeat(Math.max(0, width - lengthOf(text)));
  return column?.isRight ? gap + text : text + gap;
}

function lengthOf(text: string): number {
  return [...text].length;
}
