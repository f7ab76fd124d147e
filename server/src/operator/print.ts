/** Prints rows as aligned columns, or as JSON. */
export function print(rows: Record<string, string | number | null>[], options: { json: boolean }): void {
  process.stdout.write(options.json ? `${JSON.stringify(rows, null, 2)}\n` : table(rows));
}

function table(rows: Record<string, string | number | null>[]): string {
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

function show(value: string | number | null | undefined): string {
  return value === null || value === undefined ? '-' : String(value);
}
