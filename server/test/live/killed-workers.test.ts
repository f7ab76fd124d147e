import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { createKeyring } from '../../src/platform/secrets/keyring.ts';
import { createFolder } from '../support/certificates.ts';
import { call, provision } from '../support/client.ts';
import type { SmdpCall } from '../support/fake-smdp.ts';
import { type ServerProcess, spawnEs2Server } from '../support/process.ts';
import { startService, type TestService } from '../support/service.ts';
import { type SmdpSetup, startSmdpSetup } from '../support/smdp-setup.ts';
import { until } from '../support/until.ts';

type Moment = `${'before' | 'after'} ${SmdpCall['name']}` | 'order' | 'confirm' | 'release';
const product = 'prod_europe_5gb_30d';
const folder = createFolder();
afterAll(() => folder.remove());

const setups = {
  'with our own ICCIDs': { iccids: 'ours', releasesOnConfirm: false },
  'with the SM-DP+’s ICCIDs': { iccids: 'theirs', releasesOnConfirm: true },
} as const;

/** Shared, so that the next worker of an order can open values that the killed one sealed. */
const encryptionKey = Buffer.alloc(32, 1);

describe.each(Object.keys(setups) as (keyof typeof setups)[])('a worker that is killed, %s', (name) => {
  const { iccids, releasesOnConfirm } = setups[name];
  let service: TestService;
  let setup: SmdpSetup;

  beforeAll(async () => {
    setup = await startSmdpSetup({ refusesRepeatedConfirm: '8.2.1/3.3' }, setups[name]);
    service = await startService({ mode: 'live', keyring: createKeyring([encryptionKey]) });
  });
  afterAll(async () => {
    await service.stop();
    await setup.stop();
  });

  function worker(dieAt: string): Promise<ServerProcess> {
    const { cert, key, ca } = setup.tls.client;
    return spawnEs2Server({
      DATABASE_URL: service.databaseUrl,
      SIMPLANE_MODE: 'live',
      SIMPLANE_ROLE: 'worker',
      SIMPLANE_ENCRYPTION_KEYS: encryptionKey.toString('base64'),
      SIMPLANE_ES2_URL: setup.smdp.url,
      SIMPLANE_ES2_CERT: folder.write('cert.pem', cert),
      SIMPLANE_ES2_KEY: folder.write('key.pem', key),
      SIMPLANE_ES2_CA: folder.write('ca.pem', ca ?? ''),
      SIMPLANE_ES2_REQUESTER_ID: 'simplane-test',
      SIMPLANE_ES2_SMDP_ADDRESS: 'fallback.example.com',
      ES2_ICCIDS: iccids,
      ES2_RELEASES: releasesOnConfirm ? 'with-confirm' : 'separately',
      DIE_AT: dieAt,
    });
  }

  /** The result of one order whose worker is killed at the given moment and which another worker finishes. */
  async function killAndFinish(moment: Moment) {
    setup.smdp.calls.length = 0;
    setup.smdp.profiles.clear();
    const killed = await worker(moment);
    setup.smdp.onCall((made) => {
      if (!moment.endsWith(` ${made.name}`)) return undefined;
      // The fake finishes the call in the same tick, so the worker is dead before the answer.
      setImmediate(() => process.kill(killed.pid, 'SIGKILL'));
      return moment.startsWith('before') ? 'reset' : 'hang';
    });
    const { json } = await provision(service, undefined, { product_id: product });
    await service.db.query({ name: 'wake', text: `select pg_notify('simplane', 'executions')` });
    expect(await killed.ended).toBe('SIGKILL');
    setup.smdp.onCall(() => undefined);
    // As if the lease had ended, which other tests cover.
    await service.db.query(
      { name: 'end_lease', text: 'update execution_queue set leased_until = now() where id = $1' },
      [uuidOfId('exec', json.id)],
    );
    const next = service.startWorker(setup.network);
    const look = async () => (await call(service, 'GET', `/v1/executions/${json.id}`)).json;
    const execution = await until(look, ({ status }) => status === 'succeeded' || status === 'failed');
    await next.stop(0);
    return {
      execution,
      profiles: [...setup.smdp.profiles.values()].filter(({ reservations }) => reservations > 0),
    };
  }

  const resolved: Moment[] =
    iccids === 'ours'
      ? [
          'before downloadOrder',
          'after downloadOrder',
          'order',
          'after confirmOrder',
          'confirm',
          'after releaseProfile',
        ]
      : ['after confirmOrder'];

  test.each(resolved)('(%s) leaves one profile and one eSIM', async (moment) => {
    const { execution, profiles } = await killAndFinish(moment);
    expect(execution).toMatchObject({ status: 'succeeded', attempts: 2 });
    expect(profiles).toMatchObject([{ iccid: execution.iccid, reservations: 1, state: 'Released' }]);
  });

  const unknown: Moment[] = iccids === 'ours' ? [] : ['after downloadOrder', 'order'];

  test.each(unknown)('(%s) leaves one failure with the call id, and no second order', async (moment) => {
    const { execution, profiles } = await killAndFinish(moment);
    const [first, ...others] = setup.smdp.calls.filter(({ name: called }) => called === 'downloadOrder');
    expect(others).toEqual([]);
    expect(execution).toMatchObject({
      status: 'failed',
      error: {
        code: 'outcome_unknown',
        message: expect.stringContaining(first?.callId as string),
        upstream: { function_call_identifier: first?.callId },
      },
    });
    expect(profiles.length).toBeLessThanOrEqual(1);
  });
});
