import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { idPrefixes } from '@simplane/contract';
import { expect, onTestFinished, test } from 'vitest';
import { commandLine } from '../../src/accounts/audit/record.ts';
import { exportAccountCommand } from '../../src/commands/export-account.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import { call } from '../support/client.ts';
import { fillEsim } from '../support/fill-account.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { startService, type TestService } from '../support/service.ts';

/** The lines of each file, and the folder. */
async function exportAccount(target: TestService, id: string) {
  const { db, clock, databaseUrl, service } = target;
  const { newUuid, mode, cell } = service;
  const { config } = readConfig({});
  const folder = await mkdtemp(join(tmpdir(), 'simplane-export-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const out = join(folder, 'acme');
  const tools = { ...commandLine, config, mode, cell, db, connectionString: databaseUrl, clock, newUuid };
  await exportAccountCommand(tools, id, { out });
  const names = (await readdir(out)).sort();
  const read = async (name: string) => (await readFile(join(out, name), 'utf8')).trim().split('\n');
  const files = await Promise.all(names.map(async (name) => [name, await read(name)] as const));
  return { out, files: Object.fromEntries(files) };
}

test('an export has everything that the API shows of the account, of no other, and no secret', async () => {
  const service = await startService();
  onTestFinished(() => service.stop());
  const { db, accountUuid } = service;
  const id = idOfUuid(idPrefixes.account, accountUuid);
  const { iccid } = await fillEsim({ ...service, id }, 'exportq');
  for (let n = 0; n < 120; n++) await insertEsim(service);
  const other = await service.createAccount('Other');
  const foreign = await insertEsim({ ...service, ...other });
  const { matching_id: sealed } = (
    await db.pool.query('select matching_id from esims where iccid = $1', [iccid])
  ).rows[0];
  const { out, files } = await exportAccount(service, id);
  const kinds = ['account', 'audit_log', 'bundles', 'esims', 'events', 'executions', 'usage'];
  expect(Object.keys(files)).toEqual(kinds.map((kind) => `${kind}.ndjson`));
  for (const [path, mode] of [
    [out, 0o700],
    [join(out, 'esims.ndjson'), 0o600],
  ] as const)
    expect((await stat(path)).mode & 0o777).toBe(mode);
  const lines = Object.fromEntries(kinds.map((kind) => [kind, files[`${kind}.ndjson`] ?? []]));
  expect(lines['esims']?.map((line) => JSON.parse(line).iccid)).toHaveLength(121);
  expect(JSON.parse(lines['esims']?.at(-1) ?? '')).toEqual(
    (await call(service, 'GET', `/v1/esims/${iccid}`)).json,
  );
  expect(lines['bundles']).toHaveLength(2);
  expect(JSON.parse(lines['usage']?.[0] ?? '')).toMatchObject({
    ...{ object: 'esim_usage', iccid, used_bytes: 10, points: [{ used_bytes: 10 }] },
  });
  expect(lines['events']?.some((line) => JSON.parse(line).type === 'esim.terminated')).toBe(true);
  expect(JSON.parse(lines['audit_log']?.[0] ?? '')).toMatchObject({
    action: 'account.viewed',
    target: { id },
  });
  const everything = JSON.stringify(lines);
  for (const text of [foreign, sealed, 'SECRET-MATCHING-ID', 'LPA:', service.key]) {
    expect(everything).not.toContain(text);
  }
});

test('usage of more than a year is exported day by day, and each day once', async () => {
  const service = await startService();
  onTestFinished(() => service.stop());
  const { db, clock, accountUuid } = service;
  const iccid = await insertEsim(service);
  const today = Math.floor(clock.nowMs() / 86_400_000);
  const days = Array.from({ length: 801 }, (_, ago) => today - ago).toReversed();
  const ofDay = (day: number) => new Date(day * 86_400_000);
  const noon = new Date(ofDay(today - 800).getTime() + 43_200_000);
  await db.pool.query('update esims set created_at = $3 where account_id = $1 and iccid = $2', [
    ...[accountUuid, iccid, noon],
  ]);
  await db.pool.query(
    'insert into usage_days (iccid, account_id, day, bytes) select $1, $2, day, 7 from unnest($3::timestamptz[]) day',
    [iccid, accountUuid, days.map(ofDay)],
  );
  const { files } = await exportAccount(service, idOfUuid(idPrefixes.account, accountUuid));
  const years = files['usage.ndjson']?.map((line) => JSON.parse(line)) ?? [];
  expect(years.map(({ used_bytes }) => used_bytes)).toEqual([366 * 7, 366 * 7, 69 * 7]);
  const exported = years.flatMap(({ points }) => points.map(({ start }: { start: number }) => start));
  expect(exported).toEqual(days.map((day) => day * 86_400));
});
