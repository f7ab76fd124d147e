import type { Simplane } from '@simplane/sdk';
import { expect, test } from 'vitest';
import { waitForEvent } from '../src/tools/wait-for-event.ts';

type Query = { after: string; limit: number; wait?: number };
type Page = { data: object[]; cursor: string; caught_up: boolean };

/** Runs the tool on a service that answers like this, and returns what it was asked. */
async function askedIn(
  waitSeconds: number,
  answer: (query: Query, signal: AbortSignal) => Promise<Page>,
  more: object = {},
) {
  const asked: Query[] = [];
  const feed = (query: Query, { signal }: { signal: AbortSignal }) => {
    asked.push(query);
    return answer(query, signal);
  };
  const context = {
    simplane: { events: { feed } } as unknown as Simplane,
    signal: new AbortController().signal,
    report() {},
    ...more,
  };
  const args = { type: 'my.event', wait_seconds: waitSeconds, after: 'c', ...more };
  const result = await waitForEvent.run(context, args);
  return { asked, result };
}

const nothing = { data: [], cursor: 'c', caught_up: true };

test('a server that answers at once, as one does that stops, is not asked again at once', async () => {
  const { asked, result } = await askedIn(1, async () => nothing);
  expect(result).toMatchObject({ event: null, cursor: 'c' });
  expect(asked.length).toBeLessThan(5); // without pauses, thousands
});

test('a page that is not the last is followed by the next without a pause', async () => {
  const pages = Array.from({ length: 50 }, (_, n) => ({ ...nothing, cursor: `c${n}`, caught_up: false }));
  const event = { id: 'evt_1', data: {} };
  const startedMs = performance.now();
  const { result } = await askedIn(
    30,
    async () => pages.shift() ?? { data: [event], cursor: 'end', caught_up: true },
  );
  expect(result).toMatchObject({ event, cursor: 'end' });
  expect(performance.now() - startedMs).toBeLessThan(15_000); // with pauses, 25 s
});

test('a long wait is several requests, each shorter than clients wait for one', async () => {
  const event = { id: 'evt_1', data: {} };
  const { asked } = await askedIn(30, async () => ({ data: [event], cursor: 'end', caught_up: true }));
  expect(asked.map(({ wait }) => wait)).toEqual([10]);
});

test('a wait from now finds its place first, so that it tells where to go on although the server stops at once', async () => {
  const stopping = new AbortController();
  const { asked, result } = await askedIn(
    30,
    async ({ wait }) => {
      if (wait === undefined) return { ...nothing, cursor: 'place' };
      stopping.abort();
      throw new Error('aborted');
    },
    { after: undefined, stopping: stopping.signal },
  );
  expect(asked[0]).toEqual({ after: 'now', limit: 1 });
  expect(result).toMatchObject({ event: null, cursor: 'place' });
});

test('an event of another eSIM is passed over, and an argument that says nothing is refused', async () => {
  const event = (iccid: string) => ({ id: `evt_${iccid}`, data: { iccid } });
  const pages = [['1'], ['2']].map((iccids) => ({ ...nothing, data: iccids.map(event) }));
  const answer = async () => pages.shift() ?? nothing;
  expect((await askedIn(1, answer, { iccid: '2' })).result).toMatchObject({ event: { id: 'evt_2' } });
  for (const more of [{ type: '' }, { type: undefined }, { iccid: '' }, { after: '' }])
    await expect(async () => askedIn(1, answer, more)).rejects.toThrow(/ must be /);
});
