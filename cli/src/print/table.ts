import { clean } from './clean.ts';
import { cutToWidth, displayWidth } from './display-width.ts';
import { type Fittable, fitColumns } from './fit-columns.ts';
import type { Colors, Output } from './output.ts';

export type Column<Item> = Fittable & {
  title: string;
  value(item: Item): string;
  isRight?: boolean;
  paint?(text: string, colors: Colors): string;
};

/** Prints rows page by page, so the first page appears before the second is fetched. Columns never shrink. */
export function createTable<Item>(out: Output, all: readonly Column<Item>[]) {
  let columns = all;
  let natural = all.map(({ title }) => title.length);
  let isFirst = true;

  /** Chosen once, with the first page: later rows must match the header. */
  function hideColumns(): void {
    const widths = fitColumns(columns, natural, out.width ?? Infinity);
    const hidden = columns.filter((_, index) => widths[index] === null);
    columns = columns.filter((_, index) => widths[index] !== null);
    natural = natural.filter((_, index) => widths[index] !== null);
    if (hidden.length === 0) return;
    const titles = hidden.map(({ title }) => title).join(', ');
    out.note(out.noteColors.dim(`Too narrow for ${titles}: widen the terminal, or use --json.`));
  }

  return (items: readonly Item[]) => {
    const measure = (column: Column<Item>, width: number) =>
      Math.max(width, ...items.map((item) => displayWidth(clean(column.value(item)))));
    natural = natural.map((width, index) => measure(columns[index] as Column<Item>, width));
    if (isFirst) hideColumns();
    const fitted = fitColumns(columns, natural, out.width ?? Infinity);
    const widths = natural.map((width, index) => fitted[index] ?? width);
    if (isFirst) {
      const titles = columns.map((column, index) => pad(column.title, widths[index] ?? 0, column));
      out.line(out.colors.bold(titles.join('  ').trimEnd()));
    }
    isFirst = false;
    for (const item of items) out.line(formatRow(item, columns, widths, out.colors));
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
  item: Item,
  columns: readonly Column<Item>[],
  widths: readonly number[],
  colors: Colors,
): string {
  const cells = columns.map((column, index) => {
    const width = widths[index] ?? 0;
    const text = clean(column.value(item));
    const cell = column.cutTo === undefined ? text : cutToWidth(text, width);
    const isLast = index === columns.length - 1;
    const padded = isLast && !column.isRight ? cell : pad(cell, width, column);
    return column.paint ? column.paint(padded, colors) : padded;
  });
  return cells.join('  ').trimEnd();
}

function pad(text: string, width: number, column: { isRight?: boolean }): string {
  const gap = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return column.isRight ? gap + text : text + gap;
}
