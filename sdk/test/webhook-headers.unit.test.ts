import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { expect, test } from 'vitest';
import { SignatureVerificationError, webhooks } from '../src/index.ts';

const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const other = `whsec_${Buffer.alloc(32, 6).toString('base64')}`;
const nowSeconds = 1_800_000_000;
const body = '{"type":"esim.provisioned"}';

/** A header with a valid signature over any text in place of the timestamp. */
function signed(timeText: string, key = secret): string {
  return `t=${timeText},v1=${createHmac('sha256', key).update(`${timeText}.${body}`).digest('hex')}`;
}

const verify = (header: string, key: string | string[] = secret) =>
  webhooks.verify(body, header, key, { nowSeconds });

test('verify accepts a signature that sign has just made', async () => {
  expect(await webhooks.verify(body, await webhooks.sign(body, secret), secret)).toEqual(JSON.parse(body));
});

test('a signature by any of the given secrets is accepted, and one by another secret is refused', async () => {
  const header = signed(String(nowSeconds));
  expect(await verify(header, [other, secret])).toEqual(JSON.parse(body));
  await expect(verify(header, [other])).rejects.toThrow('signature');
});

test.each([`x${nowSeconds}`, `${nowSeconds}x`, `-${nowSeconds}`, '', '1'.repeat(16)])(
  'the timestamp %j is refused even if it is signed',
  async (timeText) => {
    await expect(verify(signed(timeText))).rejects.toThrow('t=');
  },
);

test('a header with two timestamps is refused', async () => {
  await expect(verify(`${signed(String(nowSeconds))},t=${nowSeconds}`)).rejects.toThrow('t=');
});

/** The reason of the refusal, which must be a SignatureVerificationError. */
async function reasonOf(verifying: Promise<unknown>): Promise<string> {
  const error = await verifying.catch((error: unknown) => error);
  expect(error).toBeInstanceOf(SignatureVerificationError);
  return (error as SignatureVerificationError).reason;
}

test('a missing or empty secret is refused, even if the delivery is signed with it', async () => {
  const empty = signed(String(nowSeconds), '');
  for (const key of ['', ' ', [], [''], [secret, ''], undefined, null, [undefined]]) {
    const verifying = webhooks.verify(body, empty, key as string, { nowSeconds });
    expect([key, await reasonOf(verifying)]).toEqual([key, 'secret_missing']);
  }
  await expect(verify(empty, '')).rejects.toThrow('whsec_');
  expect(await reasonOf(webhooks.sign(body, ''))).toBe('secret_missing');
});

test('the header is taken as Node gives it; a missing or repeated one is refused', async () => {
  const good = signed(String(nowSeconds));
  const headers: IncomingHttpHeaders = { 'service-signature': good };
  const check = (header: string | string[] | null | undefined) =>
    webhooks.verify(body, header, secret, { nowSeconds });
  expect(await check(headers['service-signature'])).toEqual(JSON.parse(body));
  for (const header of [undefined, null, '']) expect(await reasonOf(check(header))).toBe('header_missing');
  for (const header of [[good], [good, good], []])
    expect(await reasonOf(check(header))).toBe('header_invalid');
  await expect(check([good, good])).rejects.toThrow('more than once');
});

test('a signed body that is no JSON object is refused', async () => {
  for (const text of ['', 'hello', '{', 'null', '7', '[]']) {
    const header = await webhooks.sign(text, secret, { timestamp: nowSeconds });
    expect([text, await reasonOf(webhooks.verify(text, header, secret, { nowSeconds }))]).toEqual([
      text,
      'body_not_json',
    ]);
  }
  const parsed = JSON.parse(body) as string;
  expect(await reasonOf(webhooks.verify(parsed, signed(String(nowSeconds)), secret))).toBe('body_not_raw');
});

test('a delivery as old as the tolerance is accepted, one second older is not', async () => {
  expect(await verify(signed(String(nowSeconds - 300)))).toEqual(JSON.parse(body));
  await expect(verify(signed(String(nowSeconds - 301)))).rejects.toThrow('301');
});

test('a tolerance that is no number accepts no delivery, instead of every old one', async () => {
  const toleranceSeconds = Number(undefined);
  const header = signed(String(nowSeconds - 86_400));
  expect(await reasonOf(webhooks.verify(body, header, secret, { nowSeconds, toleranceSeconds }))).toBe(
    'timestamp_out_of_tolerance',
  );
});
