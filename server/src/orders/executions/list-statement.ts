import type { ExecutionErrorCode, ExecutionStatus, ExecutionType } from '@simplane/contract';
import { beforeFirst, type IdPage, oldestOnPage, pageOfValue } from '../../platform/lists/keyset.ts';
import {
  endedColumns,
  hasBatch,
  hasReference,
  indexedBatch,
  indexedReference,
  openColumns,
} from './sql-parts.ts';

export type ListFilter = {
  status?: ExecutionStatus | undefined;
  types?: ExecutionType[] | undefined;
  errorCode?: ExecutionErrorCode | undefined;
  reference?: string | undefined;
  batchUuid?: string | undefined;
};

/** `account` is an SQL expression; `$1` is up to the caller. */
type Shape = { account: string; ended: string; open: string };

const ownShape: Shape = { account: '$1', ended: endedColumns, open: openColumns };

/**
 * The list of one account, newest first; the values begin with `first` as `$1`. An execution keeps its id when it ends, so paging
 * shows it once even if it moves to the history. Each set of filters is a separate statement, so that each has its own plan.
 */
export function listStatement(
  { status, types, errorCode, reference, batchUuid }: ListFilter,
  { beforeUuid, count }: IdPage,
  first: string | null,
  shape: Shape = ownShape,
) {
  const values: unknown[] = [first, beforeUuid ?? beforeFirst, count];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const code = errorCode === undefined ? null : parameter(errorCode);
  const ofTypes = types ? parameter(types) : '';
  const named = [
    ...(batchUuid === undefined ? [] : [{ ...batches, value: `${parameter(batchUuid)}::uuid::text` }]),
    ...(reference === undefined ? [] : [{ ...references, value: parameter(reference) }]),
  ];
  const [indexedName, ...others] = named;
  const rows = indexedName
    ? rowsOfName(shape, indexedName, others, ofTypes, code)
    : rowsOfTypes(shape, types, ofTypes, code);
  const shown = status ?? (code === null ? undefined : 'failed');
  const suffixes = [shown, rows.suffix, code === null ? '' : 'code'].filter((suffix) => suffix);
  return {
    name: ['execution_list', ...suffixes].join('_'),
    text: shown === undefined ? listAll(rows) : listByStatus[shown](rows),
    values,
  };
}

/** Only failed executions have an error code. */
export function mayMatch({ status, errorCode }: ListFilter): boolean {
  return errorCode === undefined || status === undefined || status === 'failed';
}

/** How a statement reads the ended and the open rows that match a condition, in the list's order. */
type RowsOfTypes = { suffix: string; ended: Rows; open: Rows };
type Rows = (condition: string) => string;

function rowsOfTypes(
  shape: Shape,
  types: ExecutionType[] | undefined,
  typeParameter: string,
  code: string | null,
): RowsOfTypes {
  const open = openRows(shape);
  const ofTypes: Rows = (condition) => open(`and type = any(${typeParameter}) ${condition}`);
  // Finds changes behind a backlog of new orders: the queue has an index of them, which a plan uses only with this condition.
  const ofChanges: Rows = (condition) => ofTypes(`and type <> 'esim.provision' ${condition}`);
  const isOfChanges = types !== undefined && !types.includes('esim.provision');
  return {
    suffix: types === undefined ? '' : isOfChanges ? 'change' : 'type',
    open: types === undefined ? open : isOfChanges ? ofChanges : ofTypes,
    ended: endedRows(shape, types === undefined ? null : typeParameter, code),
  };
}

type Name = { suffix: string; indexed: string; has: string };

const references: Name = { suffix: 'reference', indexed: indexedReference, has: hasReference };
const batches: Name = { suffix: 'batch', indexed: indexedBatch, has: hasBatch };

/** Those of a reference or a batch are few, so the other filters need no index. */
function rowsOfName(
  shape: Shape,
  { suffix, indexed, has, value }: Name & { value: string },
  others: readonly (Name & { value: string })[],
  types: string,
  code: string | null,
): RowsOfTypes {
  const { condition: isNamed, order } = pageOfValue(indexed, value);
  const alsoNamed = others.map((other) => `and ${other.indexed} = ${other.value}`).join(' ');
  const ofTypes = types === '' ? '' : `and type = any(${types})`;
  const ofCode = code === null ? '' : `and error ->> 'code' = ${code}`;
  const from =
    (table: string, columns: string): Rows =>
    (condition) =>
      `
select ${columns}
from ${table}
where account_id = ${shape.account} and ${isNamed} and ${has} ${alsoNamed} ${ofTypes} ${condition}
order by ${order}
limit $3`;
  const ended = from('executions', shape.ended);
  return {
    suffix: [suffix, ...others.map((other) => other.suffix), ...(types === '' ? [] : ['type'])].join('_'),
    open: from('execution_queue', shape.open),
    ended: (condition) => ended(`${ofCode} ${condition}`),
  };
}

function openRows({ account, open }: Shape): Rows {
  return (condition) => `
select ${open}
from execution_queue
where account_id = ${account} and id < $2 ${condition}
order by id desc
limit $3`;
}

function endedRows({ account, ended }: Shape, types: string | null, code: string | null): Rows {
  const from = `
select ${ended}
from executions
where account_id = ${account}`;
  if (code !== null) {
    const ofCode = pageOfValue(`(error ->> 'code')`, code);
    const ofType = types === null ? '' : `and type = any(${types})`;
    return (condition) => `${from} and ${ofCode.condition} ${condition} ${ofType}
order by ${ofCode.order}
limit $3`;
  }
  if (types === null) {
    return (condition) => `${from} and id < $2 ${condition}
order by id desc
limit $3`;
  }
  // Reads a page of each type and merges them: fast for rare and common types.
  const ofType = pageOfValue('type', 'wanted.type');
  return (condition) => `
select one.*
from unnest(${types}::text[]) as wanted (type)
cross join lateral (${from} and ${ofType.condition} ${condition}
  order by ${ofType.order}
  limit $3
) one
order by id desc
limit $3`;
}

const listAll = ({ ended, open }: RowsOfTypes) => `
with ended as materialized (${ended('')})
select *
from (
  (select * from ended)
  union all
  (${open(`and id >= ${oldestOnPage('ended')}`)})
) page
order by id desc
limit $3`;

// A prepared plan can use the partial index of failed executions only if the status is a literal.
const listByStatus: Record<ExecutionStatus, (ofType: RowsOfTypes) => string> = {
  queued: ({ open }) => open('and attempts = 0'),
  // `fence > 0` is implied, but the partial index of claimed rows requires it
  running: ({ open }) => open('and attempts > 0 and fence > 0'),
  succeeded: ({ ended }) => ended(`and status = 'succeeded'`),
  failed: ({ ended }) => ended(`and status = 'failed'`),
};
