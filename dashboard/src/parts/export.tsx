import type { Page } from '@simplane/sdk';
import { useRef, useState } from 'react';
import { toCsv } from './csv.ts';
import { ErrorNote } from './error-note.tsx';
import { number } from './format.ts';

type Props<Row> = {
  what: string;
  read(page: { limit: number; starting_after?: string }): PromiseLike<Page<Row>>;
};

// A hundred pages. Whoever needs more has the API.
const maxRows = 10_000;
const pageSize = 100;

/** Saves everything that the filters match, not only the page that is shown. */
export function Export<Row>({ what, read }: Props<Row>) {
  const [count, setCount] = useState<number | null>(null);
  const [ended, setEnded] = useState<{ count: number; isWhole: boolean } | Error | null>(null);
  const stopped = useRef(false);

  async function save(): Promise<void> {
    stopped.current = false;
    const rows: object[] = [];
    let next: string | null | undefined;
    do {
      const page = await read({ limit: pageSize, ...(next && { starting_after: next }) });
      rows.push(...(page.data as object[]));
      next = page.has_more ? page.next_cursor : null;
      setCount(rows.length);
    } while (next && rows.length < maxRows && !stopped.current);
    if (!stopped.current) saveFile(toCsv(rows), fileName(what));
    setEnded(stopped.current ? null : { count: rows.length, isWhole: !next });
  }

  return (
    <div className="export">
      {ended instanceof Error && <ErrorNote error={ended} lead={`Could not export ${what}.`} />}
      <span role="status" className="quiet">
        {count !== null && `${number(count)} rows read…`}
        {ended !== null && !(ended instanceof Error) && told(ended)}
      </span>
      <button
        type="button"
        className="control"
        onClick={() => {
          if (count !== null) {
            stopped.current = true;
            return;
          }
          setEnded(null);
          setCount(0);
          save()
            .catch((error: unknown) => setEnded(error instanceof Error ? error : new Error('It failed.')))
            .finally(() => setCount(null));
        }}
      >
        {count === null ? 'Export as CSV' : 'Stop'}
      </button>
    </div>
  );
}

function told({ count, isWhole }: { count: number; isWhole: boolean }): string {
  const rows = `${number(count)} ${count === 1 ? 'row' : 'rows'}`;
  return isWhole ? `Saved ${rows}.` : `Saved the newest ${rows}; narrow the filters for the rest.`;
}

function fileName(what: string): string {
  const name = what.replace(/^the /, '').replaceAll(/\W+/g, '-');
  return `simplane-${name}-${new Date().toISOString().slice(0, 10)}.csv`;
}

export function saveFile(content: string | Uint8Array<ArrayBuffer>, name: string): void {
  const link = document.createElement('a');
  const type = name.endsWith('.csv') ? 'text/csv;charset=utf-8' : 'application/zip';
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
