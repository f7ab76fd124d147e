import { expect, test } from 'vitest';
import type { Database } from '../../platform/db/database.ts';
import { recordView } from './record-view.ts';
import type { FoundLink } from './sql.ts';

type Viewer = Parameters<typeof recordView>[1];

const uuid = '018f2d6a-0000-7000-8000-000000000001';

/** A person opens the page. `isFirst`: the statement that marks a link found it unmarked. */
async function view(openedAt: Date | null, isFirst: boolean) {
  const seen: string[] = [];
  const tx = {
    async query({ name }: { name: string }) {
      seen.push(name);
      return name === 'install_link_mark_opened' && isFirst ? [{}] : [];
    },
  };
  const db = {
    async transaction(work: (given: typeof tx) => Promise<unknown>) {
      const result = await work(tx);
      seen.push('committed');
      return result;
    },
  } as unknown as Database;
  const viewer = {
    ...{ apiKey: null, requestId: 'req_1', ip: null, clock: { nowMs: () => 1_800_000_000_000 } },
    newUuid: () => Buffer.alloc(16),
    signals: { announce: (...given: string[]) => void seen.push(given.join(' ')) },
  } as unknown as Viewer;
  const link = {
    account_id: uuid,
    id: uuid,
    iccid: '1',
    product_id: 'p',
    reference: null,
    opened_at: openedAt,
  };
  await recordView(db, viewer, link as FoundLink);
  return seen;
}

test('the first view is announced once its event is committed', async () => {
  const [audited, marked, emitted, ...rest] = await view(null, true);
  expect([audited, marked, emitted]).toEqual([
    expect.stringContaining('audit'),
    'install_link_mark_opened',
    expect.stringContaining('event'),
  ]);
  expect(rest).toEqual(['committed', `deliveries ${uuid}`]);
});

test('of several first views at once, those that come later tell nobody', async () => {
  const seen = await view(null, false);
  expect(seen.slice(1)).toEqual(['install_link_mark_opened', 'committed']);
});

test('a later view takes no lock and tells nobody', async () => {
  expect((await view(new Date(0), true)).slice(1)).toEqual(['committed']);
});
