import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSimplane } from '../../../sdk/src/index.ts';
import { commandLine } from '../../src/accounts/audit/record.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { listBatchInstallProfiles } from '../../src/orders/batches/list-install-profiles.ts';
import { call } from '../support/client.ts';
import { readZip } from '../support/read-zip.ts';
import { decode, fromPng } from '../support/scan-qr.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: read as a client reads it
type Json = any;

let service: TestService;
let simplane: ReturnType<typeof createSimplane>;
let path: string;
let id: string;
/** In the order of the batch, without the one that is terminated. */
let profiles: Json[];

const orders = [
  { reference: 'first' },
  { reference: '=1+1' },
  { reference: 'a, "b" <c>' },
  { reference: 'terminated' },
].map((order) => ({ product_id: 'prod_europe_5gb_30d', ...order }));

beforeAll(async () => {
  service = await startService({ requestLogLevel: 'all' });
  simplane = createSimplane({ apiKey: service.key, baseUrl: service.url });
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  id = (await simplane.batches.create({ orders: [...orders, { product_id: 'prod_sandbox_held' }] })).id;
  path = `/v1/batches/${id}/install_profiles`;
  await until(
    () => simplane.batches.get(id),
    ({ open }) => open === 1,
  );
  const esims = (await simplane.esims.list()).data.toReversed();
  await simplane.esims.terminate(esims[3]?.iccid as string);
  await until(
    () => simplane.esims.get(esims[3]?.iccid as string),
    ({ status }) => status === 'terminated',
  );
  profiles = await Promise.all(esims.slice(0, 3).map(({ iccid }) => simplane.esims.install(iccid)));
});
afterAll(() => service.stop());

async function download(format: string): Promise<{ headers: Headers; bytes: Buffer }> {
  const headers = { Authorization: `Bearer ${service.key}` };
  const response = await fetch(`${service.url}${path}?format=${format}`, { headers });
  expect(response.status).toBe(200);
  return { headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

describe('the install profiles of a batch', () => {
  test('are those of its eSIMs that can be installed, in its order', async () => {
    const found = await simplane.batches.installProfiles(id);
    expect(found).toMatchObject({ object: 'batch_install_profiles', batch_id: id, open: 1 });
    expect(found.data).toEqual(
      profiles.map(({ object, qr, profile_state, ...profile }, at) => ({
        ...profile,
        ...{ execution_id: expect.stringMatching(/^exec_/), ...orders[at] },
      })),
    );
  });

  test('are read from the database when there is room for them, and after that their entry is written', async () => {
    const steps: string[] = [];
    const query: typeof service.db.query = (statement, values) => {
      steps.push(statement.name);
      return service.db.query(statement, values);
    };
    const ctx = {
      ...service.service,
      ...commandLine,
      db: { ...service.db, query },
      account: { uuid: service.accountUuid },
      waitForRoom: async () => void steps.push('room'),
    } as unknown as Parameters<typeof listBatchInstallProfiles>[0];
    const { data } = await listBatchInstallProfiles(ctx, { params: { id }, query: {}, body: {} });
    expect(data).toHaveLength(3);
    expect(steps).toEqual(['batch_find', 'room', 'batch_list_installable', 'audit_insert']);
  });

  test('as CSV: one line each, and a reference is never a formula', async () => {
    const { headers, bytes } = await download('csv');
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${id}.csv"`);
    const [names, ...lines] = bytes.toString().trimEnd().split('\r\n');
    expect(names).toMatch(/^iccid,reference,product_id,execution_id,lpa,activation_code,/);
    const begins = profiles.map(
      ({ iccid }, at) => `${iccid},${['first', `'=1+1`, '"a, ""b"" <c>"'][at]},prod_`,
    );
    expect(lines).toHaveLength(3);
    for (const [at, line] of lines.entries()) {
      expect(line.startsWith(begins[at] as string)).toBe(true);
      expect(line).toContain(profiles[at].lpa);
    }
  });

  test('as NDJSON: one object a line', async () => {
    const lines = (await download('ndjson')).bytes.toString().trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual((await simplane.batches.installProfiles(id)).data);
  });

  test('as a ZIP archive of QR codes that a camera reads, as PNG or SVG', async () => {
    const pngs = readZip((await download('zip')).bytes);
    const svgs = readZip((await download('zip_svg')).bytes);
    expect([...pngs.keys()]).toEqual(profiles.map(({ iccid }) => `${iccid}.png`));
    for (const { iccid, lpa, qr } of profiles) {
      expect(decode(fromPng(pngs.get(`${iccid}.png`) as Buffer)).data).toBe(lpa);
      const svg = svgs.get(`${iccid}.svg`) as Buffer;
      expect(`data:image/svg+xml;base64,${svg.toString('base64')}`).toBe(qr.svg);
    }
  });

  test('as a ZIP archive of cards, whose texts are escaped', async () => {
    const cards = readZip((await download('cards')).bytes);
    const [, , third] = profiles;
    const card = (cards.get(`${third.iccid}.svg`) as Buffer).toString();
    expect(card).toContain('a, &quot;b&quot; &lt;c&gt;');
    for (const text of [third.iccid, third.matching_id, third.smdp_address])
      expect(card).toContain(`>${text}<`);
  });

  test.each([
    ['text/csv', 'text/csv; charset=utf-8'],
    ['application/x-ndjson', 'application/x-ndjson'],
    ['application/zip', 'application/zip'],
    ['*/*', 'application/json; charset=utf-8'],
    ['image/png', 'application/json; charset=utf-8'],
  ])('come as Accept says: %s', async (accept, type) => {
    const { headers } = await call(service, 'GET', path, { headers: { Accept: accept } });
    expect(headers.get('content-type')).toBe(type);
    expect([headers.get('vary'), headers.get('cache-control')]).toEqual(['Accept', 'no-store']);
  });

  test('need the scope `install`, and are not another account’s', async () => {
    const reader = await service.createKey({ scopes: ['read'] });
    expect((await call(service, 'GET', path, { key: reader })).json.error.code).toBe('scope_missing');
    const installer = await service.createKey({ scopes: ['install'] });
    expect((await call(service, 'GET', path, { key: installer })).status).toBe(200);
    const { key } = await service.createAccount('Other');
    expect((await call(service, 'GET', path, { key })).status).toBe(404);
    const unknown = await call(service, 'GET', `${path}?format=pdf`);
    expect(unknown.json.error).toMatchObject({ code: 'parameter_invalid', param: 'format' });
  });

  test('leave an audit entry, found by each eSIM, and no code in a log, a list or an entry', async () => {
    const viewed = async (target: string) =>
      (await simplane.auditLog.list({ target, action: 'batch.install_profiles_viewed', limit: 100 })).data;
    const before = (await viewed(id)).length;
    await simplane.batches.installProfilesFile(id, 'csv');
    expect(await viewed(id)).toHaveLength(before + 1);
    const [entry] = await viewed(profiles[0].iccid);
    expect(entry).toMatchObject({ target: { type: 'batch', id }, changes: { esims: 3 } });
    const lists = await Promise.all(
      ['audit_log', 'requests', 'executions', 'batches', 'events'].map((list) =>
        call(service, 'GET', `/v1/${list}?limit=100`),
      ),
    );
    const texts = [...service.logLines, ...lists.map(({ text }) => text)];
    for (const text of texts) for (const { matching_id: code } of profiles) expect(text).not.toContain(code);
  });

  test('are prepared twice at a time for one account, eight requests wait, and one more is refused, but not another account’s', async () => {
    const { key } = await service.createAccount('Other');
    const refused = await service.db.transaction(async (tx) => {
      // Every request waits here for its audit entry.
      await tx.query({ name: 'test_lock_audit_log', text: 'lock table audit_log in share mode' }, []);
      const sent = Array.from({ length: 11 }, () => call(service, 'GET', `${path}?format=zip`));
      const first = await Promise.race(sent);
      const other = await call({ url: service.url, key }, 'GET', `${path}?format=zip`);
      return { first, rest: sent, other };
    });
    expect(refused.other.status).toBe(404);
    expect([refused.first.status, refused.first.json.error.code]).toEqual([429, 'rate_limited']);
    const statuses = (await Promise.all(refused.rest)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
  });
});
