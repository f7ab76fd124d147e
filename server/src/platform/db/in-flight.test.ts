import { expect, test } from 'vitest';
import { isRead } from './in-flight.ts';

test.each([
  'insert into esims (id) values ($1)',
  'with gone as (delete from sessions returning id) select count(*) from gone',
  'update esims set status = $1',
  'select id from esims where id = $1 for update skip locked',
  'select id from accounts where id = $1 for share',
  `select pg_try_advisory_xact_lock(1)`,
  `select pg_advisory_xact_lock_shared(1)`,
  `select pg_notify('simplane', $1)`,
  `select nextval('positions')`,
])('while commits hang, a statement that writes or locks does not pass as a read: %s', (text) => {
  expect(isRead({ name: `test ${text}`, text })).toBe(false);
});

test.each([
  'select id, updated_at from esims where account_id = $1',
  'with page as (select id from esims) select * from page',
])('a statement that only reads passes: %s', (text) => {
  expect(isRead({ name: `test ${text}`, text })).toBe(true);
});
