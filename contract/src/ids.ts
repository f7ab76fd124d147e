/** Ids are UUIDv7 bits behind a prefix: sortable by time, half the index of text, and readable in a log. */
export const idPrefixes = {
  account: 'acct',
  apiKey: 'key',
  bundle: 'bdl',
  delivery: 'dlv',
  event: 'evt',
  execution: 'exec',
  request: 'req',
  webhookEndpoint: 'we',
} as const;

export type IdPrefix = (typeof idPrefixes)[keyof typeof idPrefixes];

// Crockford's base32 in lower case: no i, l, o, u, so an id survives being read aloud.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** 26 characters hold 130 bits of which an id uses 128, so the first character is never above 7. */
export function idPattern(prefix: IdPrefix): string {
  return `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`;
}

// Two characters a look-up: formatting an id is on the hot path of every request.
const pairOf = Array.from({ length: 1024 }, (_, n) => `${alphabet[n >> 5]}${alphabet[n & 31]}`);

/** The first byte makes two characters (3 + 5 bits); the other fifteen make three groups of five bytes, eight characters each. */
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

/** The uuid behind an id, or null when the text is not an id of that kind: to a caller that id just does not exist. */
export function decodeId(prefix: IdPrefix, text: string): Uint8Array | null {
  if (!new RegExp(idPattern(prefix)).test(text)) return null;
  const uuid = new Uint8Array(16);
  let [bits, held, filled] = [0, -2, 0]; // the first character brings three bits, the others five
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

function byte(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}
