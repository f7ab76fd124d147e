import { SignatureVerificationError } from './errors.ts';
import type { Event, EventData } from './generated.ts';

/** An event. `switch` on `type` to narrow `data`; types newer than this SDK reach `default`. */
export type WebhookEvent = {
  [Type in keyof EventData]: Omit<Event, 'type' | 'data'> & { type: Type; data: EventData[Type] };
}[keyof EventData];

export type VerifyOptions = {
  /** Maximum difference between the delivery's timestamp and the clock, in either direction. Defaults to 300. */
  toleranceSeconds?: number | undefined;
  /** The receiver's clock in Unix seconds, for tests. */
  nowSeconds?: number | undefined;
};

/** The body as received. A body that was parsed and serialized again does not match its signature. */
export type RawBody = string | ArrayBuffer | Uint8Array;

/** The `Service-Signature` header, as `Headers.get` or Node's `request.headers` returns it. */
export type SignatureHeader = string | readonly string[] | null | undefined;

export const webhooks = {
  /**
   * Verifies the signature and timestamp and returns the event. All its errors are SignatureVerificationErrors; `reason`
   * tells them apart. `header` is the value of `Service-Signature`. During a secret rotation, pass both secrets.
   */
  async verify(
    rawBody: RawBody,
    header: SignatureHeader,
    secret: string | readonly string[],
    { toleranceSeconds = 300, nowSeconds = Math.floor(Date.now() / 1000) }: VerifyOptions = {},
  ): Promise<WebhookEvent> {
    const secrets = secretsOf(secret);
    const { timeText, signatures } = parseHeader(header);
    const body = bytesOf(rawBody);
    const keys = await Promise.all(secrets.map((one) => hmacKey(one, ['verify'])));
    const signed = join(`${timeText}.`, body);
    // Checks every pair with the platform's constant-time comparison, so that timing reveals nothing.
    const results = await Promise.all(
      keys.flatMap((key) =>
        signatures.map((signature) => crypto.subtle.verify('HMAC', key, signature, signed)),
      ),
    );
    if (!results.includes(true)) {
      throw new SignatureVerificationError(
        'signature_mismatch',
        'No signature matches. Check that the secret belongs to this endpoint, and pass the raw body, not parsed and serialized again.',
      );
    }
    const differenceSeconds = Math.abs(nowSeconds - Number(timeText));
    // Written so that a tolerance that is no number, from a setting that is missing, accepts nothing.
    if (!(differenceSeconds <= toleranceSeconds)) {
      throw new SignatureVerificationError(
        'timestamp_out_of_tolerance',
        `The timestamp differs from this clock by ${differenceSeconds} s; the tolerance is ${toleranceSeconds} s. Check the clock.`,
      );
    }
    return parseEvent(body);
  },

  /** Returns the header that the service would send with this body, for tests of a receiver. */
  async sign(
    body: RawBody,
    secret: string,
    { timestamp = Math.floor(Date.now() / 1000) }: { timestamp?: number } = {},
  ): Promise<string> {
    const [only = ''] = secretsOf(secret);
    const key = await hmacKey(only, ['sign']);
    const signature = await crypto.subtle.sign('HMAC', key, join(`${timestamp}.`, bytesOf(body)));
    const hex = [...new Uint8Array(signature)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    return `t=${timestamp},v1=${hex}`;
  },
};

type Bytes = Uint8Array<ArrayBuffer>;

/** `t=<seconds>,v1=<hex>[,v1=<hex>…]`; parts with other names are reserved for later versions and ignored. */
function parseHeader(header: SignatureHeader): { timeText: string; signatures: Bytes[] } {
  if (header === undefined || header === null || header === '') {
    throw new SignatureVerificationError('header_missing', 'The Service-Signature header is missing.');
  }
  if (typeof header !== 'string') {
    throw new SignatureVerificationError(
      'header_invalid',
      'The Service-Signature header must be one text. A list means that it was sent more than once, which Simplane does not do.',
    );
  }
  const parts = header.split(',').map((part) => part.split('=', 2) as [string, string?]);
  const times = parts.filter(([name]) => name === 't').map(([, value = '']) => value);
  const [timeText = ''] = times;
  if (times.length !== 1 || !/^\d{1,15}$/.test(timeText)) {
    throw new SignatureVerificationError(
      'header_invalid',
      'The Service-Signature header does not have the form t=…,v1=….',
    );
  }
  const signatures = parts
    .filter(([name, value]) => name === 'v1' && /^[0-9a-f]{64}$/.test(value ?? ''))
    .map(([, value = '']) => Uint8Array.from(value.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)));
  return { timeText, signatures };
}

/** Refuses to work without a secret: anyone can sign with an empty one. */
function secretsOf(secret: string | readonly string[]): readonly string[] {
  const secrets = Array.isArray(secret) ? secret : [secret];
  const isUsable = (one: unknown) => typeof one === 'string' && one.trim() !== '';
  if (secrets.length > 0 && secrets.every(isUsable)) return secrets;
  throw new SignatureVerificationError(
    'secret_missing',
    'A signing secret (whsec_…) is required; the given one is missing or empty. Check the configuration of the receiver.',
  );
}

function hmacKey(secret: string, usages: ('sign' | 'verify')[]): Promise<CryptoKey> {
  const bytes = new TextEncoder().encode(secret);
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, usages);
}

function bytesOf(body: RawBody): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (body instanceof Uint8Array) return body;
  throw new SignatureVerificationError(
    'body_not_raw',
    'The raw body must be a string or bytes: read it before a JSON parser does.',
  );
}

function parseEvent(body: Uint8Array): WebhookEvent {
  try {
    const event: unknown = JSON.parse(new TextDecoder().decode(body));
    if (typeof event === 'object' && event !== null && !Array.isArray(event)) return event as WebhookEvent;
  } catch {} // not JSON at all
  throw new SignatureVerificationError(
    'body_not_json',
    'The signature matches, but the body is not a JSON object.',
  );
}

function join(prefix: string, body: Uint8Array): Bytes {
  const start = new TextEncoder().encode(prefix);
  const whole = new Uint8Array(start.length + body.length);
  whole.set(start);
  whole.set(body, start.length);
  return whole;
}
