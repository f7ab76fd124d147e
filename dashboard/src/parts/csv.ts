type Cell = string | number | boolean | null;

/** Rows of the API as CSV with a column per field: `error.code`, `metadata.order_id`. Times are ISO 8601, in UTC. */
export function toCsv(rows: readonly object[]): string {
  const flat = rows.map((row) => new Map(fieldsOf(row)));
  const names = [...new Set(flat.flatMap((fields) => [...fields.keys()]))].filter(
    (name) => name !== 'object',
  );
  const lines = flat.map((fields) => names.map((name) => quoted(fields.get(name) ?? null)));
  return [names.map(quoted), ...lines].map((line) => `${line.join(',')}\r\n`).join('');
}

function fieldsOf(value: object, prefix = ''): [name: string, cell: Cell][] {
  return Object.entries(value).flatMap(([key, field]: [string, unknown]) => {
    const name = prefix + key;
    if (Array.isArray(field)) return [[name, field.map(textOf).join(' ')]];
    if (typeof field === 'object' && field !== null) return fieldsOf(field, `${name}.`);
    return [[name, isTime(key, field) ? new Date(field * 1_000).toISOString() : (field as Cell)]];
  });
}

function isTime(key: string, field: unknown): field is number {
  return typeof field === 'number' && /^created$|_at$|_since$/.test(key);
}

function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A spreadsheet runs a text that begins like a formula, and some texts are strangers', so those get an apostrophe. */
function quoted(cell: Cell): string {
  if (cell === null) return '';
  const text = typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
