// A quote or backslash in a user-chosen key is escaped in JSON. The address in an activation code may be empty.
const secrets =
  /sp_(?:test|live)_(?:[^\s"\\]|\\.)+|whsec_[\w+/=-]+|(?:LPA:)?1\$[\w.:-]*\$[\w-]+(?:\$[\w.$-]*)?/g;
const anySecret = new RegExp(secrets.source);

// A name or a path segment. Percent signs are checked in code: a pattern that requires one rescans a run without any from each
// of its characters, and 60,000 characters took 20 s.
const run = /[^\s"\\/?&=]+/g;

// Real text is not percent-encoded more often than this. Text that needs more decoding is redacted entirely.
const maxDecodings = 5;

/** Redacts API keys, signing secrets and activation codes, including percent-encoded ones. */
export function redact(text: string): string {
  const plain = text.replace(secrets, '[redacted]');
  return plain.includes('%') ? plain.replace(run, redactEncoded) : plain;
}

function redactEncoded(run: string): string {
  if (!run.includes('%')) return run;
  let text = run;
  for (let i = 0; i < maxDecodings; i++) {
    const decoded = decode(text);
    if (decoded === text) return run;
    if (anySecret.test(decoded)) return '[redacted]';
    text = decoded;
  }
  return '[redacted]';
}

/** Decodes only ASCII, which is enough for secrets. Unlike `decodeURIComponent`, it accepts a stray `%`. */
function decode(text: string): string {
  return text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
