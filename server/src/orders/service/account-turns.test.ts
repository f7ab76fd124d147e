import { expect, test } from 'vitest';
import { createAccountTurns } from './account-turns.ts';

const job = (account_id: string) => ({ account_id });
const lowest = '00000000-0000-0000-0000-000000000000';

test('the next claim begins after the account that had the last turn, and then from the first', () => {
  const turns = createAccountTurns({ perAccount: 2 });
  expect(turns.starts()).toEqual([lowest]);
  turns.begin([job('c'), job('b')]);
  expect(turns.starts()).toEqual(['c', lowest]);
  turns.begin([]);
  expect(turns.starts()).toEqual(['c', lowest]);
  turns.begin([job('a')]);
  expect(turns.starts()).toEqual(['a', lowest]);
});

test('an account that has its share in flight is full until one has ended', () => {
  const turns = createAccountTurns({ perAccount: 2 });
  turns.begin([job('a'), job('b')]);
  expect(turns.full()).toEqual([]);
  turns.begin([job('a')]);
  expect(turns.full()).toEqual(['a']);
  turns.end(job('a'));
  expect(turns.full()).toEqual([]);
  turns.end(job('a'));
  turns.begin([job('a')]);
  expect(turns.full()).toEqual([]);
});
