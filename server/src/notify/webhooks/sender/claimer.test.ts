import { expect, test } from 'vitest';
import { createClaimer } from './claimer.ts';
import type { Parts } from './parts.ts';

type Deps = Parameters<typeof createClaimer>[0];

test.each(['proven', 'unproven', 'urgent'] as const)(
  'a sender that may be taken for dead takes nothing from the %s, and leaves them in their queue',
  async (queue) => {
    let isFresh = false;
    const asked: string[] = [];
    const take = (name: string) => () => {
      asked.push(name);
      return [];
    };
    const claimer = createClaimer({
      isFresh: () => isFresh,
      ready: { take: { proven: take('proven'), unproven: take('unproven'), urgent: take('urgent') } },
      due: { find: async () => {}, findLater: () => {} },
    } as unknown as Deps & Parts);
    expect([await claimer[queue](5), asked]).toEqual([[], []]);
    isFresh = true;
    expect([await claimer[queue](5), asked]).toEqual([[], [queue]]);
  },
);
