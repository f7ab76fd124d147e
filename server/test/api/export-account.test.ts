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
import { startService } from '../support/service.ts';

test('an export has everything that the API shows of the account, of no other, and no secret', async () => {
  const service = await startService();
  onTestFinished(() => service.stop());
  const { db, clock, databaseUrl, accountUuid } = service;
  const id = idOfUuid(idPrefixes.account, accountUuid);
  const { iccid } = await fillEsim({ ...service, id }, 'exportq');
  for (let n = 0; n < 120; n++) await insertEsim(service);
  const other = await service.createAccount('Other');
  const foreign = await insertEsim({ ...service, ...other });
  const { matching_id: sealed } = (
    await db.pool.query('select matching_id from esims where iccid = $1', [iccid])
  ).rows[0];
  const folder = await mkdtemp(join(tmpdir(), 'simplane-export-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { config } = readConfig({});
  const { newUuid, mode, cell } = service.service;
  const tools = { ...commandLine, config, mode, cell, db, connectionString: databaseUrl, clock, newUuid };
  await exportAccountCommand(tools, id, { out: join(folder, 'acme') });

  const names = (await readdir(join(folder, 'acme'))).sort();
  const kinds = ['account', 'audit_log', 'bundles', 'esims', 'events', 'executions', 'usage'];
  expect(names).toEqual(kinds.map((kind) => `${kind}.ndjson`));
  expect((await stat(join(folder, 'acme', 'esims.ndjson'))).mode & 0o777).toBe(0o600);
  const read = async (kind: string) =>
    (await readFile(join(folder, 'acme', `${kind}.ndjson`), 'utf8')).trim().split('\n');
  const lines = Object.fromEntries(await Promise.all(kinds.map(async (kind) => [kind, await read(kind)])));
  expect(lines['esims'].map((line: string) => JSON.parse(line).iccid)).toHaveLength(121);
  expect(JSON.parse(lines['esims'].at(-1))).toEqual((await call(service, 'GET', `/v1/esims/${iccid}`)).json);
  expect(lines['bundles']).toHaveLength(2);
  expect(JSON.parse(lines['usage'][0])).toMatchObject({
    ...{ object: 'esim_usage', iccid, used_bytes: 10, points: [{ used_bytes: 10 }] },
  });
  expect(lines['events'].some((line: string) => JSON.parse(line).type === 'esim.terminated')).toBe(true);
  expect(JSON.parse(lines['audit_log'][0])).toMatchObject({ action: 'account.viewed', target: { id } });
  const everything = JSON.stringify(lines);
  for (const text of [foreign, sealed, 'SECRET-MATCHING-ID', 'LPA:', service.key]) {
    expect(everything).not.toContain(text);
  }
});
