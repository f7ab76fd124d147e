import { expect, test } from 'vitest';
import type { Queryable } from '../../platform/db/database.ts';
import type { ClaimedExecution, Deps, HeldExecution } from '../executions/runner.ts';
import { allot, readMatchingId } from './allot.ts';

const uuids = [1, 2, 3].map((n) => `018f2d6a-0000-7000-8000-00000000000${n}`) as [string, string, string];
const numbers = ['8999901000000000018', '8999901000000000026', '8999901000000000034'];

/** Allots to three orders, of which another worker has claimed those in `lost`. */
async function start({ available = numbers, lost = [] }: { available?: string[]; lost?: string[] }) {
  const stored: string[] = [];
  const returned: unknown[] = [];
  const tx = {
    async query(_: unknown, values: Buffer[]) {
      const text = (values[3] as Buffer).toString('latin1');
      stored.push(...available.filter((iccid) => text.includes(iccid)));
      return uuids
        .slice(0, available.length)
        .flatMap((id, index) => (lost.includes(id) ? [] : [{ id, iccid: available[index], progress: {} }]));
    },
  } as unknown as Queryable;
  const deps = {
    db: { transaction: (work: (on: Queryable) => unknown) => work(tx) },
    network: { iccids: 'ours', forgetsCalls: true },
    keyring: { seal: () => 'sealed' },
  } as unknown as Deps;
  const source = {
    allot: async () => available,
    giveBack: async (_: Queryable, iccid: string, state: string) => void returned.push([iccid, state]),
  } as unknown as Parameters<typeof allot>[2];
  const orders = uuids.map((id) => ({ account_id: id, id, fence: 1, iccid: null, progress: {} }));
  const kept = await allot(deps, orders as unknown as ClaimedExecution[], source);
  return { stored, returned, kept: kept.map(({ id, iccid }) => [id, iccid]) };
}

test('each order of a batch gets a number of its own', async () => {
  const { stored, returned, kept } = await start({});
  expect([stored, returned]).toEqual([numbers, []]);
  expect(kept).toEqual(uuids.map((id, index) => [id, numbers[index]]));
});

test('the number of an order that another worker has claimed goes back, and the order is not run', async () => {
  const { returned, kept } = await start({ lost: [uuids[1]] });
  expect(returned).toEqual([[numbers[1], 'free']]);
  expect(kept.map(([id]) => id)).toEqual([uuids[0], uuids[2]]);
});

test('when the numbers run out, the remaining orders go on without one', async () => {
  const { kept } = await start({ available: numbers.slice(0, 1) });
  expect(kept).toEqual([
    [uuids[0], numbers[0]],
    [uuids[1], null],
    [uuids[2], null],
  ]);
});

test('a matching id is made up only for a network that would answer a repetition with the first one', async () => {
  const read = (forgetsCalls: boolean) => {
    const deps = { network: { ...(forgetsCalls && { forgetsCalls }) } } as unknown as Deps;
    const execution = { progress: {} } as unknown as HeldExecution;
    return [readMatchingId(deps, execution), readMatchingId(deps, execution)];
  };
  expect(await Promise.all(read(true))).toEqual([null, null]);
  const [made, again] = await Promise.all(read(false));
  expect(made).toMatch(/^[0-9A-Z-]{23}$/);
  expect(again).toBe(made);
});
