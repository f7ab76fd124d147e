import type { Page } from '@simplane/sdk';

/** The most characters of JSON that a tool returns: about 10,000 tokens. Clients cut off or refuse at 25,000. */
export const maxAnswerLength = 40_000;
// The rest is for the fields around the items of a page.
const maxItemsLength = maxAnswerLength - 1_000;

export const note = {
  type: 'string',
  description: 'How to get the rest, if this is not everything.',
};

type Noted<Result> = Result & { note?: string };

/** Reads a page that fits. `read` takes a page size that replaces the one that the caller asked for. */
export async function readBoundedPage<Item>(
  tool: string,
  read: (limit?: number) => PromiseLike<Page<Item>>,
): Promise<Noted<Page<Item>>> {
  let page = await read();
  let isCut = false;
  // A cursor points to the end of a page, so a page that is too large is read again with fewer items.
  while (page.data.length > 1 && lengthOf(page.data) > maxItemsLength) {
    page = await read(countOfFitting(page.data));
    isCut = true;
  }
  const bounded = { ...page, data: page.data.map((item) => shortenTo(maxItemsLength, item)) };
  const notes: (string | false)[] = [
    isCut && `Only ${page.data.length} fit into one answer.`,
    page.has_more && `For more, call ${tool} again with starting_after set to next_cursor.`,
    bounded.data.some((item, index) => item !== page.data[index]) && shortenedNote,
  ];
  return withNote(bounded, notes);
}

/** Cuts an object down to what fits. A page that was bounded already stays as it is. */
export function boundObject<Result extends object>(result: Result): Noted<Result> {
  const bounded = shortenTo(maxAnswerLength, result);
  return withNote(bounded, [bounded !== result && shortenedNote]);
}

const shortenedNote =
  'Long texts and lists are cut, marked by "…". The user can see them in full with the simplane command line or the HTTP API.';

function withNote<Result extends object>(result: Result, notes: (string | false)[]): Noted<Result> {
  const given = notes.filter((text) => text !== false);
  return given.length === 0 ? result : { ...result, note: given.join(' ') };
}

function lengthOf(value: unknown): number {
  return JSON.stringify(value).length;
}

/** At least 1, and fewer than all. */
function countOfFitting(items: readonly unknown[]): number {
  let length = 0;
  const tooMuch = items.findIndex((item) => {
    length += lengthOf(item);
    return length > maxItemsLength;
  });
  return Math.max(1, Math.min(tooMuch, items.length - 1));
}

type Limits = { textLength: number; entries: number; depth: number };

// The last one always fits: it leaves at most 12 fields with 12 texts each, below one level of our own fields.
const steps: Limits[] = [
  { textLength: 1_000, entries: 100, depth: 10 },
  { textLength: 250, entries: 50, depth: 6 },
  { textLength: 60, entries: 12, depth: 3 },
];

function shortenTo<Value>(maxLength: number, value: Value): Value {
  let shortened = value;
  for (const limits of steps) {
    if (lengthOf(shortened) <= maxLength) break;
    shortened = shorten(value, limits) as Value;
  }
  return shortened;
}

function shorten(value: unknown, limits: Limits): unknown {
  if (typeof value === 'string') return shortenText(value, limits.textLength);
  if (typeof value !== 'object' || value === null) return value;
  if (limits.depth === 0) return '…';
  const inner = { ...limits, depth: limits.depth - 1 };
  if (Array.isArray(value)) return value.slice(0, limits.entries).map((item) => shorten(item, inner));
  const entries = Object.entries(value).slice(0, limits.entries);
  return Object.fromEntries(
    entries.map(([name, field]) => [shortenText(name, limits.textLength), shorten(field, inner)]),
  );
}

/** Never cuts within a surrogate pair: half of one is not valid JSON. */
export function shortenText(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…`;
}
