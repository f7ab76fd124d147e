import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { webhooks } from '../src/index.ts';

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
  await expect(verify(header, [])).rejects.toThrow('signature');
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

test('an empty secret throws a TypeError, not a signature error', async () => {
  await expect(verify(signed(String(nowSeconds)), '')).rejects.toThrow(TypeError);
  await expect(verify(signed(String(nowSeconds)), '')).rejects.toThrow('whsec_');
});

test('a delivery as old as the tolerance is accepted, one second older is not', async () => {
  expect(await verify(signed(String(nowSeconds - 300)))).toEqual(JSON.parse(body));
  await expect(verify(signed(String(nowSeconds - 301)))).rejects.toThrow('301');
});
