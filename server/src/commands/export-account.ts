import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Account, Esim } from '@simplane/contract';
import { listAuditLog } from '../accounts/audit/list.ts';
import { recordAudit } from '../accounts/audit/record.ts';
import type { ReadContext } from '../accounts/context.ts';
import { describeAccount } from '../accounts/find.ts';
import { requireAccount } from '../accounts/get-account.ts';
import { presentAccount } from '../accounts/present-account.ts';
import { listEvents } from '../notify/events/list.ts';
import { listBundles } from '../orders/bundles/list.ts';
import { listEsims } from '../orders/esims/list.ts';
import { listExecutions } from '../orders/executions/list.ts';
import { getEsimUsage } from '../views/lookups/usage.ts';
import type { Tools } from './with-database.ts';

type Page = { data: object[]; next_cursor?: string };
type Read = (query: { limit: number; starting_after?: string }) => Promise<Page>;
type Write = (line: object) => Promise<void>;

const pageSize = 100;
const daySeconds = 86_400;
// As many days as the API shows at once.
const yearSeconds = 366 * daySeconds;

/** Writes what the API shows of an account, as lines of JSON: a file for each kind into a folder, or all to standard output. */
export async function exportAccountCommand(
  tools: Tools,
  id: string,
  { out }: { out: string },
): Promise<void> {
  const row = await requireAccount(tools.db, id);
  const ctx = { ...tools, account: describeAccount(row), usageMaxAgeMs: tools.config.usageMaxAgeMs };
  const reader: ReadContext = { ...ctx, waitForRoom: async () => {} };
  await recordAudit(tools.db, tools, {
    accountUuid: row.id,
    action: 'account.viewed',
    target: { type: 'account', id },
    changes: { request: 'accounts export' },
  });
  if (out !== '-') await mkdir(out, { recursive: true, mode: 0o700 });
  for (const [kind, write] of Object.entries(kindsOf(reader, presentAccount(row)))) {
    const stream =
      out === '-' ? process.stdout : createWriteStream(join(out, `${kind}.ndjson`), { mode: 0o600 });
    await write((line) => send(stream, line));
    if (stream === process.stdout) continue;
    stream.end();
    await finished(stream);
  }
}

/** Waits while the reader of the stream is slower, so that memory does not grow with the account. */
function send(stream: Writable, line: object): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(`${JSON.stringify(line)}\n`, (error) => (error ? reject(error) : resolve()));
  });
}

/** Activation codes and secrets are in none of these. */
function kindsOf(ctx: ReadContext, account: Account): Record<string, (write: Write) => Promise<void>> {
  const lists = {
    esims: (query: Parameters<Read>[0]) => listEsims(ctx, { params: {}, query, body: {} }),
    executions: (query: Parameters<Read>[0]) => listExecutions(ctx, { params: {}, query, body: {} }),
    events: (query: Parameters<Read>[0]) => listEvents(ctx, { params: {}, query, body: {} }),
    audit_log: (query: Parameters<Read>[0]) => listAuditLog(ctx, { params: {}, query, body: {} }),
  };
  const written = Object.entries<Read>(lists).map(([kind, read]) => [
    kind,
    (write: Write) => eachOf(read, write),
  ]);
  const ofEsims = (show: (esim: Esim, write: Write) => Promise<void>) => (write: Write) =>
    eachOf(lists.esims, (esim) => show(esim as Esim, write));
  return {
    account: (write) => write(account),
    ...Object.fromEntries(written),
    bundles: ofEsims(({ iccid }, write) =>
      eachOf((query) => listBundles(ctx, { params: { iccid }, query, body: {} }), write),
    ),
    usage: ofEsims((esim, write) => writeUsage(ctx, esim, write)),
  };
}

async function eachOf(read: Read, write: Write): Promise<void> {
  let cursor: string | undefined;
  do {
    const page = await read({ limit: pageSize, ...(cursor !== undefined && { starting_after: cursor }) });
    for (const item of page.data) await write(item);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
}

/** The days on which the eSIM was used, a year a line. */
async function writeUsage(ctx: ReadContext, { iccid, created }: Esim, write: Write): Promise<void> {
  const now = Math.floor(ctx.clock.nowMs() / 1000);
  // The API widens what it is asked for to whole days, so a year that began within a day would share that day with the one before.
  for (let from = created - (created % daySeconds); from <= now; from += yearSeconds) {
    const query = { interval: 'day', from, until: Math.min(from + yearSeconds, now + 1) } as const;
    const usage = await getEsimUsage(ctx, { params: { iccid }, query, body: {} });
    const points = usage.points.filter(({ used_bytes: bytes }) => bytes > 0);
    if (points.length > 0) await write({ ...usage, points });
  }
}
