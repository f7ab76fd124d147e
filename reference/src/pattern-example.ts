/** Returns a deterministic string that matches the pattern, or null if this small parser does not support its syntax. */
export function patternExample(pattern: string): string | null {
  try {
    const reader = { pattern, at: 0, picks: 0 };
    const text = readAlternatives(reader);
    return new RegExp(pattern, 'u').test(text) ? text : null;
  } catch {
    return null;
  }
}

type Reader = { pattern: string; at: number; picks: number };

const shorthands: Record<string, string> = { d: '0123456789', w: 'abcdefghijklmnopqrstuvwxyz', s: ' ' };

/** Uses the first alternative; the others are parsed only to skip them. */
function readAlternatives(reader: Reader): string {
  let chosen: string | null = null;
  do {
    const text = readSequence(reader);
    chosen ??= text;
  } while (take(reader, '|'));
  return chosen;
}

function readSequence(reader: Reader): string {
  let text = '';
  while (reader.at < reader.pattern.length && !'|)'.includes(peek(reader))) {
    if (take(reader, '^') || take(reader, '$')) continue;
    const start = reader.at;
    let piece = readAtom(reader);
    const end = reader.at;
    const repeat = readRepeat(reader);
    const after = reader.at;
    if (repeat === 0) piece = '';
    // Parsing the atom again instead of repeating its text varies the characters: `a7k`, not `aaa`.
    for (let n = 1; n < repeat; n++) {
      reader.at = start;
      piece += readAtom(reader);
    }
    reader.at = repeat > 1 ? after : Math.max(after, end);
    text += piece;
  }
  return text;
}

function readAtom(reader: Reader): string {
  if (take(reader, '(')) {
    if (take(reader, '?')) {
      if (!take(reader, ':')) throw new Error('look-around is not supported');
    }
    const text = readAlternatives(reader);
    if (!take(reader, ')')) throw new Error('unclosed group');
    return text;
  }
  if (take(reader, '[')) return pick(reader, readClass(reader));
  if (take(reader, '.')) return pick(reader, shorthands['w'] ?? '');
  if (take(reader, '\\')) {
    const letter = next(reader);
    return pick(reader, shorthands[letter] ?? letter);
  }
  return next(reader);
}

function readClass(reader: Reader): string {
  const negated = take(reader, '^');
  let members = '';
  while (!take(reader, ']')) {
    const from = readMember(reader);
    if (from.length === 1 && peek(reader) === '-' && reader.pattern[reader.at + 1] !== ']') {
      reader.at += 1;
      members += between(from, readMember(reader));
    } else members += from;
  }
  const printable = between('!', '~');
  return negated ? [...printable].filter((character) => !members.includes(character)).join('') : members;
}

function readMember(reader: Reader): string {
  if (!take(reader, '\\')) return next(reader);
  const letter = next(reader);
  return shorthands[letter] ?? letter;
}

/** Returns the minimum repeat count, or a few more if the pattern is open-ended, so that the text looks real. */
function readRepeat(reader: Reader): number {
  if (take(reader, '?')) return 0;
  if (take(reader, '*') || take(reader, '+')) return 6;
  const bounds = /^\{(\d+)(,(\d*))?\}/.exec(reader.pattern.slice(reader.at));
  if (!bounds) return 1;
  reader.at += bounds[0].length;
  const least = Number(bounds[1]);
  if (bounds[2] === undefined) return least;
  return Math.max(least, Math.min(8, bounds[3] ? Number(bounds[3]) : 8));
}

function between(from: string, to: string): string {
  const [first, last] = [from.charCodeAt(0), to.charCodeAt(0)];
  return Array.from({ length: last - first + 1 }, (_, n) => String.fromCharCode(first + n)).join('');
}

/** Picks in a fixed stride: the output is deterministic, so the page stays cacheable. */
function pick(reader: Reader, members: string): string {
  reader.picks += 1;
  return members.charAt((reader.picks * 7 + 3) % Math.max(members.length, 1));
}

function peek(reader: Reader): string {
  return reader.pattern.charAt(reader.at);
}

function next(reader: Reader): string {
  if (reader.at >= reader.pattern.length) throw new Error('the pattern ends too early');
  return reader.pattern.charAt(reader.at++);
}

function take(reader: Reader, character: string): boolean {
  if (peek(reader) !== character) return false;
  reader.at += 1;
  return true;
}
