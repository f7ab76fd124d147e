import { encodeId } from '@simplane/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeCursor } from '../../src/platform/lists/cursor.ts';
import { call } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

type Status = 'queued' | 'running' | 'succeeded' | 'failed';

/** Writes executions with any id and status, as other processes with other clocks might. */
async function insert(accountUuid: string, rows: { uuid: Buffer; status: Status }[]): Promise<void> {
  await service.db.query(
    {
      name: 'test_insert_executions',
      text: `
with given as (
  select *, (status = 'running')::integer as n
  from unnest($2::uuid[], $3::text[]) as r (id, status)
), open as (
  insert into execution_queue (account_id, id, type, input, attempts, fence, created_at)
  select $1, id, 'esim.provision', '{}', n, n, now()
  from given
  where status in ('queued', 'running')
)
insert into executions (account_id, id, type, status, input, created_at)
select $1, id, 'esim.provision', status, '{}', now()
from given
where status in ('succeeded', 'failed')`,
    },
    [accountUuid, rows.map(({ uuid }) => uuid.toString('hex')), rows.map(({ status }) => status)],
  );
}

const status = fc.constantFrom<Status>('queued', 'running', 'succeeded', 'failed');
const row = fc.record({
  uuid: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes)),
  status,
});
const rows = (maximum: number) =>
  fc.uniqueArray(row, { maxLength: maximum, selector: ({ uuid }) => uuid.toString('hex') });

function idsOf(of: { uuid: Buffer }[]): string[] {
  return of.map(({ uuid }) => encodeId('exec', uuid));
}

describe('paging through a list', () => {
  test('shows every item present at the start exactly once, in order, despite concurrent writes', async () => {
    await fc.assert(
      fc.asyncProperty(
        rows(40),
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 }),
        fc.array(rows(6), { maxLength: 8 }),
        fc.option(status, { nil: undefined }),
        async (atStart, limits, meanwhile, filter) => {
          const { accountUuid, key } = await service.createAccount('Walk');
          await insert(accountUuid, atStart);
          const present = new Set(idsOf(atStart));
          const seen: { id: string; status: Status }[] = [];
          let cursor: string | undefined;
          for (let page = 0; ; page++) {
            const query = new URLSearchParams({ limit: String(limits[page % limits.length]) });
            if (cursor !== undefined) query.set('starting_after', cursor);
            if (filter) query.set('status', filter);
            const { status: code, json } = await call(
              { url: service.url, key },
              'GET',
              `/v1/executions?${query}`,
            );
            expect(code).toBe(200);
            seen.push(...json.data);
            expect('next_cursor' in json).toBe(json.has_more);
            if (!json.has_more) break;
            cursor = json.next_cursor;
            const late = (meanwhile[page] ?? []).filter(({ uuid }) => !present.has(encodeId('exec', uuid)));
            for (const id of idsOf(late)) present.add(id);
            await insert(accountUuid, late);
          }
          const expected = idsOf(atStart.filter((item) => !filter || item.status === filter));
          const ids = seen.map(({ id }) => id);
          expect(ids).toEqual([...ids].sort().reverse());
          expect(new Set(ids).size).toBe(ids.length);
          expect(ids).toEqual(expect.arrayContaining(expected));
          if (filter) expect(seen.every((item) => item.status === filter)).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('of products shows every listed product once and no unlisted one', async () => {
    const seen: string[] = [];
    let query = 'limit=3';
    for (;;) {
      const { json } = await call(service, 'GET', `/v1/products?${query}`);
      seen.push(...json.data.map(({ id }: { id: string }) => id));
      if (!json.has_more) break;
      query = `limit=4&starting_after=${json.next_cursor}`;
    }
    expect(seen.length).toBeGreaterThanOrEqual(12);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => id.startsWith('prod_sandbox_'))).toEqual([]);
    expect((await call(service, 'GET', '/v1/products/prod_sandbox_flaky')).status).toBe(200);
  });
});

test('the pages of keys and of install links show each once, newest first', async () => {
  const account = await service.createAccount('Pages');
  const target = { ...service, ...account };
  const idsIn = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
  for (const [path, body] of [
    ['/v1/api_keys', { scopes: ['read'] }],
    [`/v1/esims/${await insertEsim(target)}/install_links`, {}],
  ] as const) {
    for (let n = 0; n < 3; n++) expect((await call(target, 'POST', path, { body })).status).toBe(201);
    const list = async (query: string) => (await call(target, 'GET', `${path}?${query}`)).json;
    const all = idsIn(await list('limit=100'));
    expect(all).toEqual([...all].sort().reverse());
    const first = await list('limit=2');
    const rest = await list(`limit=2&starting_after=${first.next_cursor}`);
    expect([...idsIn(first), ...idsIn(rest)]).toEqual(all);
    expect(rest.has_more).toBe(false);
  }
});

describe('the page size', () => {
  test('is 10 by default and at most 100', async () => {
    const { accountUuid, key } = await service.createAccount('Sizes');
    const many = Array.from({ length: 120 }, () => ({
      uuid: service.service.newUuid(),
      status: 'queued' as const,
    }));
    await insert(accountUuid, many);
    const target = { url: service.url, key };
    expect((await call(target, 'GET', '/v1/executions')).json.data).toHaveLength(10);
    expect((await call(target, 'GET', '/v1/executions?limit=100')).json.data).toHaveLength(100);
    expect((await call(target, 'GET', '/v1/executions?limit=101')).json.data).toHaveLength(100);
    expect(
      (await call(target, 'GET', '/v1/executions?limit=99999999999999999999999')).json.data,
    ).toHaveLength(100);
  });

  test.each(['0', '-1', '1.5', 'ten', '', '1e1', '0x10', ' 5'])('%j is refused', async (limit) => {
    const reply = await call(service, 'GET', `/v1/products?limit=${encodeURIComponent(limit)}`);
    expect([reply.status, reply.json.error.code, reply.json.error.param]).toEqual([
      400,
      'parameter_invalid',
      'limit',
    ]);
  });
});

describe('a cursor', () => {
  async function cursorOf(path: string, target = { url: service.url, key: service.key }): Promise<string> {
    return (await call(target, 'GET', path)).json.next_cursor;
  }

  async function useAt(path: string, cursor: string, key = service.key) {
    const { status: code, json } = await call(
      { url: service.url, key },
      'GET',
      `${path}starting_after=${encodeURIComponent(cursor)}`,
    );
    return [code, json.error?.code, json.error?.param];
  }

  const refused = [400, 'cursor_invalid', 'starting_after'];

  test('with any byte changed, removed or added is refused', async () => {
    const cursor = await cursorOf('/v1/products?limit=2');
    await fc.assert(
      fc.asyncProperty(
        fc.nat(cursor.length - 1),
        fc.constantFrom(...'ABCxyz019-_'),
        async (index, character) => {
          const changed = cursor.slice(0, index) + character + cursor.slice(index + 1);
          fc.pre(changed !== cursor);
          expect(await useAt('/v1/products?', changed)).toEqual(refused);
        },
      ),
      { numRuns: 200 },
    );
    for (const tampered of [
      '',
      'x',
      cursor.slice(0, -1),
      `${cursor}A`,
      `${cursor}=`,
      `${cursor} `,
      `${cursor}\u0000`,
    ]) {
      expect(await useAt('/v1/products?', tampered)).toEqual(refused);
    }
    expect(await useAt('/v1/products?', cursor)).toEqual([200, undefined, undefined]);
  });

  test('forged with a valid checksum is refused if its position is invalid', async () => {
    for (const [list, position] of [
      ['products', 'abc x'],
      ['executions', 'zzz'],
      ['esims', "' or true --"],
      ['events', '00000000-0000-0000-0000-00000000000g'],
    ] as const) {
      const { account } = (await call(service, 'GET', '/v1/me')).json;
      const filters =
        list === 'products' ? {} : list === 'executions' ? { status: undefined } : { status: undefined };
      const forged = encodeCursor({ list, accountId: account.id, filters }, position);
      expect(await useAt(`/v1/${list}?`, forged)).toEqual(refused);
    }
  });

  test('of another list, other filters or another account is refused', async () => {
    const { accountUuid, key } = await service.createAccount('Foreign');
    const some = Array.from({ length: 5 }, () => ({
      uuid: service.service.newUuid(),
      status: 'failed' as const,
    }));
    await insert(accountUuid, some);
    const target = { url: service.url, key };
    const cursor = await cursorOf('/v1/executions?limit=2&status=failed', target);
    expect(await useAt('/v1/executions?status=failed&', cursor, key)).toEqual([200, undefined, undefined]);
    expect(await useAt('/v1/executions?', cursor, key)).toEqual(refused);
    expect(await useAt('/v1/executions?status=queued&', cursor, key)).toEqual(refused);
    expect(await useAt('/v1/products?', cursor, key)).toEqual(refused);
    expect(await useAt('/v1/executions?status=failed&', cursor, service.key)).toEqual(refused);
  });
});

test('a list shows only the caller’s own items', async () => {
  const [one, two] = [await service.createAccount('One'), await service.createAccount('Two')];
  await insert(one.accountUuid, [{ uuid: service.service.newUuid(), status: 'queued' }]);
  expect((await call({ url: service.url, key: one.key }, 'GET', '/v1/executions')).json.data).toHaveLength(1);
  expect((await call({ url: service.url, key: two.key }, 'GET', '/v1/executions')).json.data).toEqual([]);
});
