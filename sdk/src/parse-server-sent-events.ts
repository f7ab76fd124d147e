import { SimplaneError } from './errors.ts';

/** One block of a stream. `data` is undefined in a bookmark, which has only an id. */
export type ServerSentEvent = { id: string | undefined; event: string | undefined; data: string | undefined };

// Simplane's events have at most 256 kB.
const maxLength = 1_000_000;

/**
 * Returns a function that takes the next bytes of a stream and returns the blocks that they complete, as the HTML
 * standard defines them. A block that the stream does not complete is never returned.
 */
export function createEventParser(): (bytes: Uint8Array) => ServerSentEvent[] {
  const nextLines = lineSplitter();
  let fields = newFields();
  return (bytes) => {
    const complete: ServerSentEvent[] = [];
    const { lines, restLength } = nextLines(bytes);
    for (const line of lines) {
      if (line !== '') {
        addField(fields, line);
        continue;
      }
      const { id, event, data } = fields;
      if (id !== undefined || data) complete.push({ id, event: event || undefined, data: data?.join('\n') });
      fields = newFields();
    }
    if (restLength + fields.dataLength > maxLength) {
      throw new SimplaneError(`The stream has an event of more than ${maxLength} characters.`);
    }
    return complete;
  };
}

/** Lines end with CR LF, LF or CR. */
function lineSplitter() {
  const decoder = new TextDecoder(); // keeps incomplete characters, and drops a byte order mark
  const lineEnd = /\r\n?|\n/g;
  let rest = '';
  let endedWithCr = false;
  return (bytes: Uint8Array): { lines: string[]; restLength: number } => {
    const text = decoder.decode(bytes, { stream: true });
    const lines: string[] = [];
    let start = endedWithCr && text.startsWith('\n') ? 1 : 0;
    lineEnd.lastIndex = start;
    for (let end = lineEnd.exec(text); end !== null; end = lineEnd.exec(text)) {
      lines.push(rest + text.slice(start, end.index));
      rest = '';
      start = lineEnd.lastIndex;
    }
    if (text !== '') endedWithCr = text.endsWith('\r');
    rest += text.slice(start);
    return { lines, restLength: rest.length };
  };
}

type Fields = { id?: string; event?: string; data?: string[]; dataLength: number };

function newFields(): Fields {
  return { dataLength: 0 };
}

/** A line without a name is a comment. */
function addField(fields: Fields, line: string): void {
  const colon = line.indexOf(':');
  const name = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
  if (name === 'id' && !value.includes('\0')) fields.id = value;
  else if (name === 'event') fields.event = value;
  else if (name === 'data') {
    fields.data ??= [];
    fields.data.push(value);
    fields.dataLength += value.length + 1;
  }
}
