import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createEventParser, type ServerSentEvent } from '../src/parse-server-sent-events.ts';

function parse(chunks: Uint8Array[]): ServerSentEvent[] {
  const parser = createEventParser();
  return chunks.flatMap((chunk) => parser(chunk));
}

function parseText(text: string): ServerSentEvent[] {
  return parse([new TextEncoder().encode(text)]);
}

/** What an independent parser returns. It does not return bookmarks. */
function expected(text: string): ServerSentEvent[] {
  const events: ServerSentEvent[] = [];
  const parser = createParser({ onEvent: ({ id, event, data }) => events.push({ id, event, data }) });
  parser.feed(text);
  return events;
}

const word = fc.constantFrom('data', 'id', 'event', 'retry', ':', ' ', '{"a":1}', 'é', '🛰', '\uFEFF', 'x');
const line = fc.array(word, { maxLength: 5 }).map((words) => words.join(''));
const field = fc
  .tuple(fc.constantFrom('data', 'id', 'event', '', 'dat'), fc.constantFrom(':', ': ', ''), line)
  .map((parts) => parts.join(''));
const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
const streamText = fc
  .array(fc.tuple(fc.oneof(line, field, fc.constant('')), lineEnd), { maxLength: 30 })
  .map((lines) => lines.flat().join(''));

test('any stream in any chunks is parsed as an independent parser does', () => {
  fc.assert(
    fc.property(fc.boolean(), streamText, fc.infiniteStream(fc.nat(7)), (hasMark, text, sizes) => {
      // A line that begins with a mark is read otherwise by the other parser if it is the first one.
      fc.pre(!text.startsWith('\uFEFF'));
      const bytes = new TextEncoder().encode((hasMark ? '\uFEFF' : '') + text);
      const chunks: Uint8Array[] = [];
      for (let start = 0; start < bytes.length; ) {
        const size = sizes.next().value;
        chunks.push(bytes.subarray(start, start + size));
        start += size;
      }
      // It takes a CR at the very end for a part of CR LF, and so misses a last block that ends with one.
      expect(parse(chunks).filter(({ data }) => data !== undefined)).toEqual(expected(`${text}:`));
    }),
    { numRuns: 2_000 },
  );
});

test('a bookmark has an id and no data; comments, unknown fields and incomplete blocks are dropped', () => {
  const text =
    ': hello\n\nid: c1\n\nretry: 5\nother\n\nid: c2\nevent: a.b\ndata: 1\ndata:2\n\nid\n\ndata: cut';
  expect(parseText(text)).toEqual([
    { id: 'c1', event: undefined, data: undefined },
    { id: 'c2', event: 'a.b', data: '1\n2' },
    { id: '', event: undefined, data: undefined },
  ]);
});

test('an id with a NUL is ignored, as the standard says', () => {
  expect(parseText('id: c1\nid: c\0\ndata: x\n\n')).toEqual([{ id: 'c1', event: undefined, data: 'x' }]);
});

test('an endless line or an endless block is refused instead of kept', () => {
  for (const text of ['x'.repeat(100_000), 'data: x\n'.repeat(20_000)]) {
    const parser = createEventParser();
    const chunk = new TextEncoder().encode(text);
    expect(() => {
      for (let count = 0; count < 1_000; count++) parser(chunk);
    }).toThrow('more than 1000000 characters');
  }
});
