import { escapeControls, escapeInLines } from './escape-controls.ts';

/** What each command takes that prints a result. */
export type Format = { json: boolean };

type Row = Record<string, string | number | boolean | null>;

/** Prints rows as aligned columns, or as JSON. */
export function print(rows: Row[], options: Format): void {
  printList(rows, options, (row) => row);
}

/** Prints items as JSON, or what matters most of each as aligned columns. */
export function printList<Item>(items: readonly Item[], options: Format, rowOf: (item: Item) => Row): void {
  if (options.json) printJson(items);
  else process.stdout.write(table(items.map(rowOf)));
}

export function printJson(value: unknown): void {
  process.stdout.write(`${escapeInLines(JSON.stringify(value, null, 2))}\n`);
}

export function table(rows: Row[]): string {
  const [first] = rows;
  if (!first) return '(none)\n';
  const names = Object.keys(first);
  const cells = [
    names.map((name) => name.toUpperCase()),
    ...rows.map((row) => names.map((name) => show(row[name]))),
  ];
  const widths = names.map((_, column) => Math.max(...cells.map((line) => (line[column] ?? '').length)));
  const lines = cells.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

export function isoTime(unixSeconds: number | null): string | null {
  return unixSeconds === null ? null : new Date(unixSeconds * 1_000).toISOString();
}

function show(value: Row[string] | undefined): string {
  return value === null || value === undefined ? '-' : escapeControls(String(value));
}
