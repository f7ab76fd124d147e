import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accountTables, unscopedTables } from '../support/account-scope.ts';
import { startService, type TestService } from '../support/service.ts';

describe('a statement that names the account passes', () => {
  test.each([
    ['a parameter', 'select id from esims where account_id = $1 and id = $2'],
    ['a list of accounts', 'select id from esims where account_id = any($1)'],
    [
      'given rows',
      'update esims e set status = g.status from unnest($1::uuid[]) g (account_id) where e.account_id = g.account_id',
    ],
    [
      'a join with a table that is bound',
      'select 1 from esims e join bundles b on b.account_id = e.account_id where e.account_id = $1',
    ],
    [
      'a join with using',
      'select 1 from bundles join unnest($1::uuid[], $2::text[]) as held (account_id, iccid) using (account_id, iccid)',
    ],
    [
      'a row of columns',
      'delete from esims where (account_id, id) in (select account_id, id from unnest($1::uuid[], $2::uuid[]) g (account_id, id))',
    ],
    [
      'a lateral subquery',
      'select 1 from unnest($1::uuid[]) g (account_id) cross join lateral (select 1 from events where account_id = g.account_id offset 0) e',
    ],
    [
      'a subquery of a bound query',
      'select 1 from events e where e.account_id = $1 and exists (select from deliveries d where d.account_id = e.account_id)',
    ],
    [
      'a condition on a subquery that selects it',
      'select * from (select account_id, id from deliveries where endpoint_id = $2 union all select * from deliveries where id = $3) d where account_id = $1',
    ],
    [
      'a condition on a subquery, from the query around it',
      'select 1 from events where account_id = $1 and not exists (select from (select account_id from deliveries where event_id = events.id offset 0) d where d.account_id = events.account_id)',
    ],
    [
      'rows found by ctid',
      'delete from events where ctid = any(array(select ctid from events where account_id = $1))',
    ],
    ['an insert that gives it', 'insert into esims (account_id, id) values ($1, $2)'],
    ['the account itself', 'select 1 from api_keys k join accounts a on a.id = k.account_id where a.id = $1'],
    ['no table of an account', 'select id from products where id = $1'],
  ])('by %s', (_, text) => {
    expect(unscopedTables(text)).toEqual([]);
  });
});

describe('a statement that does not name the account is found', () => {
  test.each([
    ['without a condition', 'select id from esims', ['esims']],
    ['by id alone', 'select id from executions where id = $1', ['executions']],
    [
      'where the account is one of two alternatives',
      'select id from esims where account_id = $1 or iccid = $2',
      ['esims'],
    ],
    [
      'where the account may be any',
      'select id from esims where $1::uuid is null or account_id = $1',
      ['esims'],
    ],
    ['where the account is another', 'select id from esims where account_id <> $1', ['esims']],
    ['where it is not that account', 'select id from esims where not (account_id = $1)', ['esims']],
    ['where it is compared with itself', 'select id from esims e where e.account_id = account_id', ['esims']],
    [
      'in one of two tables',
      'select 1 from esims e join bundles b on b.iccid = e.iccid where e.account_id = $1',
      ['bundles'],
    ],
    [
      'in two tables that are bound only to each other',
      'select 1 from esims e join bundles b on b.account_id = e.account_id',
      ['bundles', 'esims'],
    ],
    ['by any account', 'select 1 from api_keys k join accounts a on a.id = k.account_id', ['api_keys']],
    [
      'by another column',
      'select 1 from esims e join events v on v.account_id = $1 and e.account_id = v.id',
      ['esims'],
    ],
    ['in an update', 'update esims set status = $2 where id = $1', ['esims']],
    ['in a delete', 'delete from events where id < $1', ['events']],
    [
      'in a subquery',
      'select 1 from events e where e.account_id = $1 and not exists (select from deliveries where event_id = e.id)',
      ['deliveries'],
    ],
    [
      'in a subquery that selects another column under its name',
      'select 1 from (select id as account_id from deliveries) d where d.account_id = $1',
      ['deliveries'],
    ],
    [
      'in a subquery whose account nobody checks',
      'select 1 from (select account_id from deliveries) d where d.account_id is not null',
      ['deliveries'],
    ],
    ['in a common table expression', 'with d as (select id from deliveries) select 1 from d', ['deliveries']],
    [
      'in a branch of a union',
      'select id from esims where account_id = $1 union all select id from esims where id = $2',
      ['esims'],
    ],
    ['in an insert', 'insert into bundles (id) values ($1)', ['bundles']],
    [
      'in the select of an insert',
      'insert into bundles (account_id, id) select account_id, id from esims',
      ['esims'],
    ],
  ])('%s', (_, text, tables) => {
    expect(unscopedTables(text)).toEqual(tables);
  });
});

test('the checked tables are all tables in the migrations with an account_id', () => {
  expect([...accountTables]).toEqual(
    expect.arrayContaining(['esims', 'bundles', 'events', 'deliveries', 'executions']),
  );
  expect(accountTables.has('products')).toBe(false);
});

describe('the service of the tests', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  test('refuses a statement that does not name the account, in a transaction too', async () => {
    // Not a literal: names that occur literally in tests are exempt.
    const planted = { name: ['esim', 'planted'].join('_'), text: 'select id from esims where id = $1' };
    const named = {
      name: ['esim', 'planted', 'well'].join('_'),
      text: 'select id from esims where account_id = $1',
    };
    await expect(service.db.query(planted, [service.accountUuid])).rejects.toThrow('whose esims it means');
    await expect(service.db.transaction((tx) => tx.query(planted, [service.accountUuid]))).rejects.toThrow(
      'whose esims it means',
    );
    expect(await service.db.query(named, [service.accountUuid])).toEqual([]);
  });
});
