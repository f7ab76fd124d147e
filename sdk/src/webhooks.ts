import { SignatureVerificationError } from './errors.ts';
import type { Event, EventData } from './generated.ts';

/** A delivered event. `switch` on `type` to narrow `data`; types newer than this SDK reach `default`. */
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

export const webhooks = {
  /**
   * Verifies the signature and timestamp and returns the event, or throws SignatureVerificationError. `header` is the
   * value of `Service-Signature`. During a secret rotation, pass both secrets.
   */
  async verify(
    rawBody: RawBody,
    header: string | null | undefined,
    secret: string | readonly string[],
    { toleranceSeconds = 300, nowSeconds = Math.floor(Date.now() / 1000) }: VerifyOptions = {},
  ): Promise<WebhookEvent> {
    const { timeText, signatures } = parseHeader(header);
    const body = bytesOf(rawBody);
    const secrets = typeof secret === 'string' ? [secret] : secret;
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
        'No signature matches. Check that the secret belongs to this endpoint, and pass the raw body, not parsed and serialized again.',
      );
    }
    const differenceSeconds = Math.abs(nowSeconds - Number(timeText));
    if (differenceSeconds > toleranceSeconds) {
      throw new SignatureVerificationError(
        `The timestamp differs from this clock by ${differenceSeconds} s; the tolerance is ${toleranceSeconds} s. Check the clock.`,
      );
    }
    return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent;
  },

  /** Returns the header that the service would send with this body, for tests of a receiver. */
  async sign(
    body: RawBody,
    secret: string,
    { timestamp = Math.floor(Date.now() / 1000) }: { timestamp?: number } = {},
  ): Promise<string> {
    const key = await hmacKey(secret, ['sign']);
    const signature = await crypto.subtle.sign('HMAC', key, join(`${timestamp}.`, bytesOf(body)));
    const hex = [...new Uint8Array(signature)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    return `t=${timestamp},v1=${hex}`;
  },
};

type Bytes = Uint8Array<ArrayBuffer>;

/** `t=<seconds>,v1=<hex>[,v1=<hex>…]`; parts with other names are reserved for later versions and ignored. */
function parseHeader(header: string | null | undefined): { timeText: string; signatures: Bytes[] } {
  const parts = (header ?? '').split(',').map((part) => part.split('=', 2) as [string, string?]);
  const times = parts.filter(([name]) => name === 't').map(([, value = '']) => value);
  const [timeText = ''] = times;
  if (times.length !== 1 || !/^\d{1,15}$/.test(timeText)) {
    throw new SignatureVerificationError(
      'The Service-Signature header is missing or does not have the form t=…,v1=….',
    );
  }
  const signatures = parts
    .filter(([name, value]) => name === 'v1' && /^[0-9a-f]{64}$/.test(value ?? ''))
    .map(([, value = '']) => Uint8Array.from(value.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)));
  return { timeText, signatures };
}

function hmacKey(secret: string, usages: ('sign' | 'verify')[]): Promise<CryptoKey> {
  if (!secret) throw new TypeError('A signing secret (whsec_…) is required.');
  const bytes = new TextEncoder().encode(secret);
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, usages);
}

function bytesOf(body: RawBody): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (body instanceof Uint8Array) return body;
  throw new TypeError('The raw body must be a string or bytes: read it before a JSON parser does.');
}

function join(prefix: string, body: Uint8Array): Bytes {
  const start = new TextEncoder().encode(prefix);
  const whole = new Uint8Array(start.length + body.length);
  whole.set(start);
  whole.set(body, start.length);
  return whole;
}
