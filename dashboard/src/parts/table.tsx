import type { Page } from '@simplane/sdk';
import type { ReactNode } from 'react';
import { navigate, setQuery, usePlace } from '../router.tsx';
import { Export } from './export.tsx';
import { clearFilters, useIsFiltered } from './filter.tsx';
import { Shown, useReading } from './reading.tsx';

export type Column<Row> = {
  name: string;
  cell(row: Row): ReactNode;
  /** Numbers are aligned to the right. */
  isNumber?: boolean;
  /** On a phone the row shows only columns without this. */
  isWide?: boolean;
  /** Sentences: on a phone they get the whole width. */
  isText?: boolean;
  /** When it happened: on a phone it is at the top right of the row. */
  isTime?: boolean;
};

/** On a phone a row has two columns, with the time at the right of the first cell. */
function classesOf<Row>(columns: readonly Column<Row>[]): string[] {
  let place = 0;
  const hasTime = columns.some(({ isTime }) => isTime);
  const isRight = () => (hasTime ? place > 0 && place % 2 === 0 : place % 2 === 1);
  return columns.map(({ isNumber, isWide, isTime, isText }) => {
    const classes = [isNumber && 'number', isWide && 'wide', isTime && 'when', isText && 'text'];
    if (isText && isRight()) place += 1; // the rest of its row stays empty
    if (!isWide && !isTime && !isText) {
      classes.push(isRight() && 'right');
      place += 1;
    }
    return classes.filter(Boolean).join(' ');
  });
}

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
  const classes = classesOf(columns);
  return (
    <div className="table">
      <table>
        <caption className="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name }, index) => (
              <th key={name} scope="col" className={classes[index]}>
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
                {columns.map(({ name, cell }, index) => (
                  <td key={name} data-name={name} className={classes[index]}>
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
  /** Such as “the orders”. */
  what: string;
  /** Identifies the list and its filters for the cache. */
  queryKey: readonly unknown[];
  read(page: ListPage): PromiseLike<Page<Row>>;
  pollMs?: number;
  /** What can be done with all rows of the page. */
  above?(rows: Row[]): ReactNode;
};

type ListPage = { limit: number; starting_after?: string };

const pageSize = 50;

/** A list of the API with its pages. The cursor is in the URL, and the browser's back button is the way to newer pages. */
export function ListTable<Row>({ what, queryKey, read, pollMs, above, ...table }: ListProps<Row>) {
  const { query } = usePlace();
  const after = query.get('after');
  const isFiltered = useIsFiltered();
  const reading = useReading({
    queryKey: [...queryKey, after],
    queryFn: () => read({ limit: pageSize, ...(after !== null && { starting_after: after }) }),
    // An older page does not change, and must not move under the pointer.
    pollMs: after === null ? (pollMs ?? false) : false,
  });
  return (
    <Shown of={reading} what={what}>
      {({ data, has_more: hasMore, next_cursor: next }) => (
        <>
          {above?.(data)}
          <Table {...table} rows={data} {...(isFiltered && { empty: <NothingMatches what={what} /> })} />
          <div className="below">
            {data.length > 0 && <Export what={what} read={read} />}
            {(after !== null || hasMore) && <Pages after={after} next={hasMore ? (next ?? null) : null} />}
          </div>
        </>
      )}
    </Shown>
  );
}

/** Filters hide what exists, so an empty list must not say that there is nothing. */
function NothingMatches({ what }: { what: string }) {
  return (
    <>
      The filters match none of {what}.{' '}
      <button type="button" className="plain link" onClick={clearFilters}>
        Clear the filters
      </button>
    </>
  );
}

function Pages({ after, next }: { after: string | null; next: string | null }) {
  return (
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
        disabled={next === null}
        onClick={() => setQuery({ after: next })}
      >
        Older
      </button>
    </nav>
  );
}
