import { expect, test } from 'vitest';
import type { Queryable } from '../db/database.ts';
import { createOldFormCheck } from './old-form.ts';

/** What the database says, one answer after another; the last one from then on. */
function databaseWith(...answers: (object | null)[]) {
  let asked = 0;
  const db = {
    query: async () => {
      const answer = answers[Math.min(asked++, answers.length - 1)];
      return answer ? [answer] : [];
    },
  } as unknown as Queryable;
  return { isRefused: createOldFormCheck(db), asked: () => asked };
}

const [allowed, refused] = [{ old_form_refused_at: null }, { old_form_refused_at: new Date(0) }];

test('while the old form is allowed, each value asks the database, so that all processes refuse it at once', async () => {
  const { isRefused, asked } = databaseWith(allowed, allowed, refused);
  expect([await isRefused(), await isRefused(), await isRefused()]).toEqual([false, false, true]);
  expect(asked()).toBe(3);
});

test('once the old form is refused, it stays so, without a question', async () => {
  const { isRefused, asked } = databaseWith(refused, allowed);
  expect([await isRefused(), await isRefused()]).toEqual([true, true]);
  expect(asked()).toBe(1);
});

test('the old form is refused if nothing is known', async () => {
  expect(await databaseWith(null).isRefused()).toBe(true);
});
