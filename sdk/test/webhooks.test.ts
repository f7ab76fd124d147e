import fc from 'fast-check';
import Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { SignatureVerificationError, webhooks } from '../src/index.ts';

const stripe = new Stripe('sk_test_unused');
const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const nowSeconds = 1_800_000_000;

function ours(body: string, header: string, key = secret) {
  return webhooks.verify(body, header, key, { nowSeconds }).then(
    (event) => ({ event }),
    (error: unknown) => {
      expect(error).toBeInstanceOf(SignatureVerificationError);
      return 'refused';
    },
  );
}

async function theirs(body: string, header: string, key = secret) {
  try {
    // Stripe takes the receiver's time in milliseconds.
    return { event: stripe.webhooks.constructEvent(body, header, key, 300, undefined, nowSeconds * 1_000) };
  } catch {
    return 'refused';
  }
}

const bodies = fc.record({ id: fc.string(), type: fc.string({ unit: 'grapheme' }), data: fc.jsonValue() });
const flips = fc.record({ at: fc.nat(200), to: fc.string({ minLength: 1, maxLength: 1 }) });

/** Valid deliveries, and deliveries modified by an attacker or a broken proxy. */
const deliveries = fc.record({
  body: bodies.map((event) => JSON.stringify(event)),
  agoSeconds: fc.integer({ min: -250, max: 600 }),
  signatures: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('one', 'other first') },
    { weight: 1, arbitrary: fc.constantFrom('other only', 'none', 'upper case', 'another scheme') },
  ),
  tampered: fc.constantFrom('nothing', 'nothing', 'nothing', 'body', 'header', 'secret'),
  flip: flips,
});

function flipped(text: string, { at, to }: { at: number; to: string }): string {
  const index = at % text.length;
  return text.slice(0, index) + to + text.slice(index + 1);
}

/** Only our SDK refuses these: a timestamp that is not a plain number, or two of them. */
function isOddTime(header: string): boolean {
  const times = header.split(',').filter((part) => part.startsWith('t='));
  return times.length !== 1 || !/^t=\d+$/.test(times[0] ?? '');
}

test('agrees with the stripe package on two thousand valid and tampered deliveries', async () => {
  const given = fc.sample(deliveries, { numRuns: 2_200, seed: 20_261_101 });
  // All at once: each step waits for a thread, which takes long on a busy machine.
  const results = await Promise.all(
    given.map(async ({ body, agoSeconds, signatures, tampered, flip }) => {
      const good = await webhooks.sign(body, secret, { timestamp: nowSeconds - agoSeconds });
      const [time = '', signature = ''] = good.split(',');
      const other = `v1=${'0'.repeat(64)}`;
      const header = {
        one: good,
        'other first': `${time},${other},${signature}`,
        'other only': `${time},${other}`,
        none: time,
        'upper case': `${time},${signature.toUpperCase().replace('V1', 'v1')}`,
        'another scheme': `${time},v0=${signature.slice(3)}`,
      }[signatures];
      const sent = {
        body: tampered === 'body' ? flipped(body, flip) : body,
        header: tampered === 'header' ? flipped(header, flip) : header,
        key: tampered === 'secret' ? flipped(secret, flip) : secret,
      };
      if (isOddTime(sent.header)) return 'skipped';
      const result = await ours(sent.body, sent.header, sent.key);
      expect(result, JSON.stringify(sent)).toEqual(await theirs(sent.body, sent.header, sent.key));
      return result === 'refused' ? 'refused' : 'accepted';
    }),
  );
  const [accepted = 0, refused = 0] = ['accepted', 'refused'].map(
    (kind) => results.filter((result) => result === kind).length,
  );
  expect(accepted + refused).toBeGreaterThan(2_000);
  expect(Math.min(accepted, refused), 'both kinds occurred').toBeGreaterThan(400);
});

describe('differs from the stripe package by design', () => {
  const body = '{"type":"esim.provisioned"}';

  test('a timestamp far in the future is refused', async () => {
    const ahead = await webhooks.sign(body, secret, { timestamp: nowSeconds + 301 });
    expect(await theirs(body, ahead)).not.toBe('refused');
    expect(await ours(body, ahead)).toBe('refused');
    const nearly = await webhooks.sign(body, secret, { timestamp: nowSeconds + 300 });
    expect(await ours(body, nearly)).not.toBe('refused');
  });

  test('a timestamp followed by other characters is refused', async () => {
    const good = await webhooks.sign(body, secret, { timestamp: nowSeconds });
    const odd = good.replace(String(nowSeconds), `${nowSeconds}x`);
    expect(await theirs(body, odd)).not.toBe('refused');
    expect(await ours(body, odd)).toBe('refused');
  });
});

test('accepts bytes and text, and its errors say what to fix', async () => {
  const body = '{"type":"esim.provisioned","note":"ünï"}';
  const header = await webhooks.sign(body, secret, { timestamp: nowSeconds });
  const bytes = new TextEncoder().encode(body);
  expect(await webhooks.verify(bytes, header, secret, { nowSeconds })).toEqual(JSON.parse(body));
  expect(await webhooks.verify(bytes.buffer, header, secret, { nowSeconds })).toEqual(JSON.parse(body));
  await expect(webhooks.verify(body, undefined, secret)).rejects.toThrow('header is missing');
  await expect(webhooks.verify(body, header, secret)).rejects.toThrow('Check the clock.');
  await expect(webhooks.verify(`${body} `, header, secret, { nowSeconds })).rejects.toThrow('raw body');
  const parsed = JSON.parse(body) as string;
  await expect(webhooks.verify(parsed, header, secret)).rejects.toThrow('read it before a JSON parser does');
});
