/** Ids are a prefix and a UUIDv7: sortable by time, readable in logs, and half the index size of text. */
export const idPrefixes = {
  account: 'acct',
  apiKey: 'key',
  auditEntry: 'aud',
  batch: 'bat',
  bundle: 'bdl',
  delivery: 'dlv',
  erasure: 'era',
  event: 'evt',
  execution: 'exec',
  installLink: 'ilk',
  process: 'proc',
  recovery: 'rec',
  request: 'req',
  session: 'sess',
  webhookEndpoint: 'we',
} as const;

export type IdPrefix = (typeof idPrefixes)[keyof typeof idPrefixes];

// Crockford's base32 in lower case: no i, l, o, u, so an id can be read aloud.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** 26 characters hold 130 bits and an id uses 128, so the first character is at most 7. */
export function idPattern(prefix: IdPrefix): string {
  return `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`;
}

// Encodes two characters per lookup: every request formats ids.
const pairOf = Array.from({ length: 1024 }, (_, n) => `${alphabet[n >> 5]}${alphabet[n & 31]}`);

/** The first byte encodes to two characters (3 + 5 bits), the other fifteen to three groups of eight characters. */
export function encodeId(prefix: IdPrefix, uuid: Uint8Array): string {
  let text = `${prefix}_${pairOf[byte(uuid, 0)]}`;
  for (let i = 1; i < 16; i += 5) {
    const [b, c, d] = [byte(uuid, i + 1), byte(uuid, i + 2), byte(uuid, i + 3)];
    text += pairOf[(byte(uuid, i) << 2) | (b >> 6)];
    text += pairOf[((b & 63) << 4) | (c >> 4)];
    text += pairOf[((c & 15) << 6) | (d >> 2)];
    text += pairOf[((d & 3) << 8) | byte(uuid, i + 4)];
  }
  return text;
}

/** Returns the UUID, or null if the text is not an id with this prefix; callers treat that as not found. */
export function decodeId(prefix: IdPrefix, text: string): Uint8Array | null {
  if (!patternOf(prefix).test(text)) return null;
  const uuid = new Uint8Array(16);
  let [bits, held, filled] = [0, -2, 0]; // the first character holds three bits, the others five
  for (let i = prefix.length + 1; i < text.length; i++) {
    bits = ((bits & 0xff) << 5) | alphabet.indexOf(text.charAt(i));
    held += 5;
    if (held >= 8) {
      held -= 8;
      uuid[filled++] = (bits >> held) & 0xff;
    }
  }
  return uuid;
}

const patterns = new Map<IdPrefix, RegExp>();

/** Compiled once: the request log decodes an id for each request. */
function patternOf(prefix: IdPrefix): RegExp {
  const known = patterns.get(prefix) ?? new RegExp(idPattern(prefix));
  patterns.set(prefix, known);
  return known;
}

function byte(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}
