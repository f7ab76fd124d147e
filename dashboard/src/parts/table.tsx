import type { Page } from '@simplane/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { navigate, setQuery, usePlace } from '../router.tsx';
import { ErrorNote } from './error-note.tsx';

export type Column<Row> = {
  name: string;
  cell(row: Row): ReactNode;
  /** Numbers are aligned to the right. */
  isNumber?: boolean;
  /** On a phone the row shows only columns without this. */
  isWide?: boolean;
};

type TableProps<Row> = {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  keyOf(row: Row): string;
  /** Where Enter goes; also makes rows focusable with j and k. */
  to?(row: Row): string | null;
  caption: string;
  empty?: ReactNode;
};

/** Rows are links by keyboard: `j` and `k` move the focus, Enter opens, `c` copies the row's id. */
export function Table<Row>({ rows, columns, keyOf, to, caption, empty }: TableProps<Row>) {
  if (rows.length === 0) return <div className="empty">{empty ?? 'Nothing yet.'}</div>;
  return (
    <div className="table">
      <table>
        <caption className="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, isNumber, isWide }) => (
              <th key={name} scope="col" className={`${isNumber ? 'number' : ''} ${isWide ? 'wide' : ''}`}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const target = to?.(row) ?? null;
            return (
              <tr
                key={keyOf(row)}
                data-row={keyOf(row)}
                tabIndex={-1}
                onKeyDown={(event) => {
                  if (event.key === 'Enter' && event.target === event.currentTarget && target !== null) {
                    navigate(target);
                  }
                }}
              >
                {columns.map(({ name, cell, isNumber, isWide }) => (
                  <td
                    key={name}
                    data-name={name}
                    className={`${isNumber ? 'number' : ''} ${isWide ? 'wide' : ''}`}
                  >
                    {cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

type ListProps<Row> = Omit<TableProps<Row>, 'rows'> & {
  /** Identifies the list and its filters for the cache. */
  queryKey: readonly unknown[];
  read(page: { limit: number; starting_after?: string }): PromiseLike<Page<Row>>;
  pollMs?: number;
};

const pageSize = 50;

/** A list of the API with its pages. The cursor is in the URL, and the browser's back button is the way to newer pages. */
export function ListTable<Row>({ queryKey, read, pollMs, ...table }: ListProps<Row>) {
  const { query } = usePlace();
  const after = query.get('after');
  const { data, error, isPending } = useQuery({
    queryKey: [...queryKey, after],
    queryFn: async () => read({ limit: pageSize, ...(after !== null && { starting_after: after }) }),
    // An older page does not change, and must not move under the pointer.
    refetchInterval: after === null ? (pollMs ?? false) : false,
  });
  if (error) return <ErrorNote error={error} />;
  if (isPending) return <div className="empty">Loading…</div>;
  const { has_more: hasMore, next_cursor: next } = data;
  return (
    <>
      <Table {...table} rows={data.data} />
      {(after !== null || hasMore) && (
        <nav className="pages" aria-label="Pages">
          <button
            type="button"
            className="control"
            disabled={after === null}
            onClick={() => setQuery({ after: null })}
          >
            Newest
          </button>
          <button
            type="button"
            className="control"
            data-key="older"
            disabled={!hasMore}
            onClick={() => setQuery({ after: next ?? null })}
          >
            Older
          </button>
        </nav>
      )}
    </>
  );
}
