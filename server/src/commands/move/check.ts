import { firstSerialOf } from '../../orders/esims/iccid.ts';
import type { Cell } from '../../platform/cell.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { readReports } from '../../platform/processes/read-reports.ts';
import type { ProcessReport } from '../../platform/processes/report.ts';
import { CommandError } from '../command-error.ts';
import { rowsIn } from './parts.ts';

type Facts = {
  /** Of the cluster and the database. */
  identity: string;
  major: number;
  wal_level: string;
  schema: number;
  mode: string;
  keys: string[];
};

function readFacts(db: Queryable): Promise<Facts[]> {
  return rowsIn<Facts>(
    db,
    'move_facts',
    `select
  (select system_identifier::text from pg_control_system()) || ' ' || current_database() as identity,
  current_setting('server_version_num')::integer / 10000 as major,
  current_setting('wal_level') as wal_level,
  (select max(version) from schema_migrations) as schema,
  (select mode from deployment_mode) as mode,
  array(select id from sealing_keys) as keys`,
  );
}

// Row filters of publications are there since then.
const minimumMajor = 15;

/** Throws, with what to change, if the account cannot be moved between these cells. Returns what the target's processes report. */
export async function checkCells(
  source: Queryable,
  target: Queryable,
  accountUuid: string,
): Promise<Partial<ProcessReport>> {
  const [[here], [there]] = await Promise.all([readFacts(source), readFacts(target)]);
  if (!here || !there || here.identity === there.identity)
    throw new CommandError('--to is the database of this cell: give that of the other one');
  if (Math.min(here.major, there.major) < minimumMajor)
    throw new CommandError(
      `both cells need PostgreSQL ${minimumMajor} or newer, for row filters in publications`,
    );
  if (here.wal_level !== 'logical')
    throw new CommandError(
      `PostgreSQL of this cell has wal_level = ${here.wal_level}: set it to logical and restart it (the embedded PostgreSQL cannot)`,
    );
  if (here.schema !== there.schema)
    throw new CommandError(
      `the cells have different releases (schema ${here.schema} and ${there.schema}): bring both to the newer one`,
    );
  if (here.mode !== there.mode)
    throw new CommandError(`this cell is in ${here.mode} mode, and the other in ${there.mode} mode`);
  await checkCatalogs(source, target, accountUuid);
  return checkReports(source, target, here.keys);
}

async function checkCatalogs(source: Queryable, target: Queryable, accountUuid: string): Promise<void> {
  const used = await rowsIn<{ id: string }>(
    source,
    'move_products_used',
    `select distinct product_id as id from bundles where account_id = $1
union select distinct product_id from esims where account_id = $1
union select distinct product_id from execution_queue where account_id = $1 and product_id is not null`,
    [accountUuid],
  );
  const known = await rowsIn<{ id: string }>(
    target,
    'move_products_known',
    'select id from products where id = any($1)',
    [used.map(({ id }) => id)],
  );
  const missing = used.filter(({ id }) => !known.some((product) => product.id === id)).map(({ id }) => id);
  if (missing.length > 0)
    throw new CommandError(
      `the other cell’s catalog lacks products that the account uses: ${missing.slice(0, 10).join(', ')}; import them there first`,
    );
}

/** What only the processes know: their labels, keys and ICCID ranges. */
async function checkReports(
  source: Queryable,
  target: Queryable,
  keys: readonly string[],
): Promise<Partial<ProcessReport>> {
  const [here, there] = await Promise.all([readReports(source), readReports(target)]);
  const [first] = there;
  if (!first) throw new CommandError('no process of the other cell is running: start it first');
  for (const { host, report } of there) {
    const missing = keys.filter((key) => !report.encryption_keys?.includes(key));
    if (missing.length > 0)
      throw new CommandError(
        `the process on ${host} of the other cell cannot read this cell’s secrets: add key ${missing.join(', ')} to its SIMPLANE_ENCRYPTION_KEYS, behind its own`,
      );
  }
  const rangesOf = (rows: typeof there) => rows.flatMap(({ report }) => report.iccid_ranges ?? []);
  const shared = rangesOf(here).find((mine) => rangesOf(there).some((theirs) => overlap(mine, theirs)));
  if (shared)
    throw new CommandError(
      `both cells take ICCIDs from the range at ${shared.first}: an ICCID must not be given out twice`,
    );
  return first.report;
}

/** Sandboxes give out numbers by their labels. */
export function checkLabels(source: Cell, target: Cell): void {
  if (source === target)
    throw new CommandError('both cells have the same label: give each its own with SIMPLANE_CELL');
  if (firstSerialOf(source) === firstSerialOf(target))
    throw new CommandError('the sandboxes of these labels give out the same ICCIDs: choose another label');
}

type Range = ProcessReport['iccid_ranges'][number];

function overlap(a: Range, b: Range): boolean {
  const [from, to] = [BigInt(a.first), BigInt(b.first)];
  return from < to + BigInt(b.size) && to < from + BigInt(a.size);
}
