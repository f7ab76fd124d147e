import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { displayWidth } from '../src/print/display-width.ts';
import { createOutput } from '../src/print/output.ts';
import { type Column, createTable } from '../src/print/table.ts';
import { hasTerminal, inTerminal } from './support/in-terminal.ts';
import { envOf, runCli } from './support/run-cli.ts';

type Row = { id: string; name: string; created: string; data: string };
const columns: Column<Row>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'NAME', value: ({ name }) => name, cutTo: 8 },
  { title: 'CREATED', value: ({ created }) => created, isSecondary: true },
  { title: 'DATA', value: ({ data }) => data, cutTo: 10 },
];
const row: Row = {
  id: 'evt_01ks6x3h4rf9n8c2b7d5e0qzjm',
  name: 'Tōkyō 東京都庁舎 annex',
  created: '2026-11-15 08:00:00',
  data: JSON.stringify({ iccid: '8999901000000000018', product_id: 'prod_europe_5gb_30d' }),
};

/** Prints pages of rows on a terminal of this width; null for a pipe. */
function print(width: number | null, ...pages: Row[][]) {
  const lines: string[] = [];
  const notes: string[] = [];
  const out = createOutput(false);
  const table = createTable(
    { ...out, width, line: (text) => void lines.push(text), note: (text) => void notes.push(text) },
    columns,
  );
  for (const page of pages) table(page);
  return { lines, notes };
}

describe('a table', () => {
  it.each([200, 100, 80, 60, 44])('is at most %i cells wide on such a terminal, with whole ids', (width) => {
    const { lines } = print(width, [row, { ...row, name: 'x' }], [{ ...row, name: 'y'.repeat(300) }]);
    expect(lines).toHaveLength(4);
    for (const line of lines) expect(displayWidth(line), line).toBeLessThanOrEqual(width);
    for (const line of lines.slice(1)) expect(line).toContain(row.id);
  });

  it('cuts long cells before it hides a column, and says which columns it hid', () => {
    expect(print(100, [row])).toMatchObject({
      lines: [expect.stringMatching(/ID.*NAME.*CREATED.*DATA/), expect.stringContaining('…')],
      notes: [],
    });
    const narrow = print(60, [row]);
    expect(narrow.lines[0]).not.toContain('CREATED');
    expect(narrow.lines[0]).toContain('DATA');
    expect(narrow.notes.join()).toMatch(/CREATED.*--json/);
  });

  it('is neither cut nor narrowed in a pipe', () => {
    const { lines, notes } = print(null, [{ ...row, data: 'z'.repeat(500) }]);
    expect(lines[1]).toContain('z'.repeat(500));
    expect(notes).toEqual([]);
  });
});

describe('the command', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  if (!hasTerminal) return;
  it('reads the width of a real terminal', async () => {
    const { stdout } = await inTerminal('products list', { env: envOf(service), columns: 60 }).ended;
    const lines = stdout.trimEnd().split(/\r?\n/);
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines.filter((text) => !text.includes('--json'))) {
      expect(displayWidth(line), line).toBeLessThanOrEqual(60);
    }
    const piped = await runCli(service, ['products', 'list'], { env: { COLUMNS: '60' } });
    expect(Math.max(...piped.stdout.split('\n').map((line) => line.length))).toBeGreaterThan(60);
  });
});
