import { SignatureVerificationError } from './errors.ts';
import type { Event, EventData } from './generated.ts';

/** An event as it is delivered; `switch` on `type` and `data` is known. A type that is newer than this SDK reaches `default`. */
export type WebhookEvent = {
  [Type in keyof EventData]: Omit<Event, 'type' | 'data'> & { type: Type; data: EventData[Type] };
}[keyof EventData];

export type VerifyOptions = {
  /** How old or how far ahead a delivery may be, in seconds; 300 when left out. */
  toleranceSeconds?: number | undefined;
  /** The receiver's clock, in Unix seconds; for tests. */
  nowSeconds?: number | undefined;
};

/** As it came in: a body that was parsed and written again is another one. */
export type RawBody = string | ArrayBuffer | Uint8Array;

export const webhooks = {
  /**
   * The event, once its signature is proven and its time is near; throws SignatureVerificationError otherwise. `header`
   * is the value of `Service-Signature`. While a secret is rotated, give both.
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
    // Every pair is checked, by the platform's constant-time comparison: the time taken tells nothing.
    const verdicts = await Promise.all(
      keys.flatMap((key) =>
        signatures.map((signature) => crypto.subtle.verify('HMAC', key, signature, signed)),
      ),
    );
    if (!verdicts.includes(true)) {
      throw new SignatureVerificationError(
        'No signature matches. Is it the secret of this endpoint, and the raw body, not one that was parsed and written again?',
      );
    }
    const awaySeconds = Math.abs(nowSeconds - Number(timeText));
    if (awaySeconds > toleranceSeconds) {
      throw new SignatureVerificationError(
        `The delivery’s time is ${awaySeconds} s away from this clock; ${toleranceSeconds} s are tolerated. Is the clock right?`,
      );
    }
    return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent;
  },

  /** The header that the service would send with this body: for the tests of a receiver. */
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

/** `t=<seconds>,v1=<hex>[,v1=<hex>…]`; parts of other names are for later versions and are passed over. */
function parseHeader(header: string | null | undefined): { timeText: string; signatures: Bytes[] } {
  const parts = (header ?? '').split(',').map((part) => part.split('=', 2) as [string, string?]);
  const times = parts.filter(([name]) => name === 't').map(([, value = '']) => value);
  const [timeText = ''] = times;
  if (times.length !== 1 || !/^\d{1,15}$/.test(timeText)) {
    throw new SignatureVerificationError(
      'The Service-Signature header is missing or not of the form t=…,v1=….',
    );
  }
  const signatures = parts
    .filter(([name, value]) => name === 'v1' && /^[0-9a-f]{64}$/.test(value ?? ''))
    .map(([, value = '']) => Uint8Array.from(value.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)));
  return { timeText, signatures };
}

function hmacKey(secret: string, usages: ('sign' | 'verify')[]): Promise<CryptoKey> {
  if (!secret) throw new TypeError('A signing secret (whsec_…) is needed.');
  const bytes = new TextEncoder().encode(secret);
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, usages);
}

function bytesOf(body: RawBody): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (body instanceof Uint8Array) return body;
  throw new TypeError('The raw body is a string or bytes: read it before a JSON parser does.');
}

function join(prefix: string, body: Uint8Array): Bytes {
  const start = new TextEncoder().encode(prefix);
  const whole = new Uint8Array(start.length + body.length);
  whole.set(start);
  whole.set(body, start.length);
  return whole;
}
