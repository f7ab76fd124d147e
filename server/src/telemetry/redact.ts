// In a line of JSON a quote or backslash of a chosen key is escaped. An activation code may leave its address out.
const secrets =
  /sp_(?:test|live)_(?:[^\s"\\]|\\.)+|whsec_[\w+/=-]+|(?:LPA:)?1\$[\w.:-]*\$[\w-]+(?:\$[\w.$-]*)?/g;
const anySecret = new RegExp(secrets.source);

// A name, a path or a part of one. Those with percent signs are picked by hand: a pattern that asks for one looks at a run
// without any from each of its characters, and 60,000 took 20 s.
const run = /[^\s"\\/?&=]+/g;

// Each time it is decoded it must get shorter, so this many suffice for whatever is not an attack on this function.
const mostDecodings = 5;

/** Takes keys, signing secrets and activation codes out of a text, percent-encoded ones too, as often as it was done. */
export function redact(text: string): string {
  const plain = text.replace(secrets, '[redacted]');
  return plain.includes('%') ? plain.replace(run, redactEncoded) : plain;
}

function redactEncoded(run: string): string {
  if (!run.includes('%')) return run;
  let text = run;
  for (let i = 0; i < mostDecodings; i++) {
    const decoded = decode(text);
    if (decoded === text) return run;
    if (anySecret.test(decoded)) return '[redacted]';
    text = decoded;
  }
  return '[redacted]'; // nobody encodes a plain text this often
}

/** Only ASCII, which is what secrets are made of. Unlike `decodeURIComponent` it does not give up at a stray `%`. */
function decode(text: string): string {
  return text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
