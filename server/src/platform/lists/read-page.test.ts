import { expect, test } from 'vitest';
import { maxPageBytes, readPage, smallPageBytes } from './read-page.ts';

const scope = { list: 'events', accountId: 'acct_1', filters: {} };

/** A page of items of these sizes, from a list whose pages are bounded in memory unless `isUnbounded`. */
async function page(
  sizes: number[],
  {
    limit = 3,
    isCut = false,
    isUnbounded = false,
  }: { limit?: number; isCut?: boolean; isUnbounded?: boolean },
) {
  const steps: (number | 'waits')[] = [];
  const { data, has_more, next_cursor } = await readPage(
    { limit },
    {
      scope,
      read: async (_, count, maxBytes) => {
        steps.push(maxBytes);
        return { rows: sizes.slice(0, count), isCut };
      },
      positionOf: () => '0192f3a4-0000-7000-8000-000000000000',
      // As JSON, it has two quotes.
      present: (size) => 'x'.repeat(size - 2),
      ...(!isUnbounded && { waitForRoom: async () => void steps.push('waits') }),
    },
  );
  return {
    steps,
    sizes: data.map((item) => item.length + 2),
    has_more,
    hasCursor: next_cursor !== undefined,
  };
}

const small = [smallPageBytes];
const large = [smallPageBytes, 'waits', maxPageBytes];

test('most pages are small: they are read once, and wait for no room', async () => {
  expect(smallPageBytes).toBe(262_144);
  expect((await page([10], {})).steps).toEqual(small);
  expect((await page([10, 10, 10], {})).steps).toEqual(small);
  expect((await page([10, 10, 10, 10], {})).steps).toEqual(small);
  // Exactly as large as a small page may be.
  expect((await page([smallPageBytes / 2, smallPageBytes / 2], {})).steps).toEqual(small);
});

test('a list of small rows is read once, without a first try', async () => {
  expect((await page([10], { isUnbounded: true })).steps).toEqual([maxPageBytes]);
});

test('a page that is larger is read again when there is room for it', async () => {
  const half = smallPageBytes / 2;
  expect(await page([half, half, 10], {})).toEqual({
    steps: large,
    sizes: [half, half, 10],
    has_more: false,
    hasCursor: false,
  });
});

test('a page ends before its items exceed the bound, and goes on with the next page', async () => {
  const half = maxPageBytes / 2;
  expect(await page([half, half, 10], {})).toMatchObject({
    sizes: [half, half],
    has_more: true,
    hasCursor: true,
  });
});

test('an item larger than the bound is a page of its own', async () => {
  const sizes = [maxPageBytes + 1];
  expect(await page([...sizes, 10], {})).toMatchObject({ sizes, has_more: true, hasCursor: true });
});

test('rows that the statement left out for their size are more rows, and worth another try', async () => {
  expect(await page([10, 10], { isCut: true })).toMatchObject({ steps: large, has_more: true });
  expect(await page([10, 10, 10], { isCut: true })).toMatchObject({ steps: large, has_more: true });
  // The page is full without them.
  expect(await page([10, 10, 10, 10], { isCut: true })).toMatchObject({ steps: small, has_more: true });
});
