import { crc32, deflateSync } from 'node:zlib';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawQr } from '../../src/orders/esims/qr.ts';
import { call } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { fromPng } from '../support/scan-qr.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const get = async (key = service.key) => (await call(service, 'GET', '/v1/branding', { key })).json;
const patch = (body: object, key = service.key) => call(service, 'PATCH', '/v1/branding', { body, key });

async function newAccount() {
  const account = await service.createAccount('Shop');
  return { ...account, on: { ...service, accountUuid: account.accountUuid } };
}

async function newLink(account: Awaited<ReturnType<typeof newAccount>>, body: object = {}) {
  const iccid = await insertEsim(account.on);
  const { json } = await call(service, 'POST', `/v1/esims/${iccid}/install_links`, {
    body,
    key: account.key,
  });
  return { iccid, url: json.url as string };
}

const uri = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`;

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  typed.copy(framed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** A gray picture, unless it has another type of color, with what a test puts into it. */
function png({
  width = 2,
  height = 2,
  colorType = 0,
  interlaced = 0,
  pixels = deflateSync(Buffer.alloc((width + 1) * height)),
  extra = Buffer.alloc(0),
}: {
  width?: number;
  height?: number;
  colorType?: number;
  interlaced?: number;
  pixels?: Buffer;
  extra?: Buffer;
} = {}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.writeUInt8(8, 8);
  header.writeUInt8(colorType, 9);
  header.writeUInt8(interlaced, 12);
  return Buffer.concat([
    ...[signature, chunk('IHDR', header), extra, chunk('IDAT', pixels)],
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

describe('the branding of an account', () => {
  test('has defaults, changes by field, and null restores a default', async () => {
    const { key } = await newAccount();
    const plain = {
      ...{ object: 'branding', name: null, color: null, text_color: '#ffffff', logo: null },
      ...{ support_url: null, top_up_url: null, apn: null, messages: {} },
    };
    expect(await get(key)).toEqual(plain);
    await patch({ name: 'Nomad', color: '#facc15', messages: { en: 'Hello', de: 'Hallo' } }, key);
    const { json } = await patch({ apn: 'internet.nomad', messages: { en: null, fr: 'Salut' } }, key);
    const changed = {
      ...{ name: 'Nomad', color: '#facc15', text_color: '#000000', apn: 'internet.nomad' },
      messages: { de: 'Hallo', fr: 'Salut' },
    };
    expect(json).toEqual({ ...plain, ...changed });
    expect(await get(key)).toEqual(json);
    await patch({ name: null, color: null, apn: null, messages: { de: null, fr: null } }, key);
    expect(await get(key)).toEqual(plain);
  });

  test('has every field as it was changed last', async () => {
    const { key } = await newAccount();
    const named = (name: string) => ({
      ...{ name, color: `#${name.repeat(6)}`, apn: name, messages: { en: name } },
      ...{ support_url: `https://${name}.example/help`, top_up_url: `https://${name}.example/` },
    });
    for (const name of ['a', 'b']) {
      await patch(named(name), key);
      expect(await get(key)).toMatchObject(named(name));
    }
  });

  test('belongs to the account alone', async () => {
    const [one, other] = [await newAccount(), await newAccount()];
    await patch({ name: 'One', logo: uri(png()) }, one.key);
    expect(await get(other.key)).toMatchObject({ name: null, logo: null });
    const { url } = await newLink(other);
    expect(await (await fetch(url)).text()).not.toContain('One');
    expect((await fetch(`${url}/logo`)).status).toBe(404);
  });

  test('keeps all of several changes at once', async () => {
    const { key } = await newAccount();
    const languages = ['en', 'de', 'fr', 'es', 'it', 'pt'];
    await Promise.all(languages.map((language) => patch({ messages: { [language]: language } }, key)));
    expect(Object.keys((await get(key)).messages).sort()).toEqual([...languages].sort());
  });

  test('needs the scope write; reading needs read', async () => {
    const reader = await service.createKey({ scopes: ['read', 'install'] });
    expect((await patch({ name: 'x' }, reader)).json.error.code).toBe('scope_missing');
    expect((await get(reader)).object).toBe('branding');
  });

  test('is told in the audit log, of the logo only that it changed', async () => {
    const { key } = await newAccount();
    await patch({ name: 'Nomad', logo: uri(png()) }, key);
    const { json } = await call(service, 'GET', '/v1/audit_log', { key });
    expect(json.data[0]).toMatchObject({
      action: 'branding.updated',
      target: { type: 'account' },
      changes: { name: { from: null, to: 'Nomad' }, logo: { changed: true } },
    });
    await patch({ name: 'Shop', logo: uri(png()) }, key);
    const { json: again } = await call(service, 'GET', '/v1/audit_log', { key });
    expect(again.data[0].changes).toEqual({ name: { from: 'Nomad', to: 'Shop' } });
  });

  test.each([
    [{ color: 'red' }, 'color'],
    [{ color: '#1D4ED8;}body{display:none' }, 'color'],
    [{ support_url: 'javascript:alert(1)' }, 'support_url'],
    [{ support_url: 'http://shop.example' }, 'support_url'],
    [{ top_up_url: 'mailto:a@b.example' }, 'top_up_url'],
    [{ apn: 'a b' }, 'apn'],
    [{ name: 'a\nb' }, 'name'],
    [{ messages: { en: 'x'.repeat(201) } }, 'messages.en'],
    [{ logo: 'data:image/svg+xml;base64,PHN2Zy8+' }, 'logo'],
    [{ logo: 'data:image/png;base64,PHN2Zy8+' }, 'logo'],
    [{ logo: uri(png().subarray(0, 40)) }, 'logo'],
    [{ logo: uri(Buffer.concat([png().subarray(0, 50), Buffer.from('x'), png().subarray(51)])) }, 'logo'],
    // The last byte of the header's checksum.
    [{ logo: uri(Buffer.concat([png().subarray(0, 32), Buffer.from('x'), png().subarray(33)])) }, 'logo'],
    [{ logo: uri(png({ interlaced: 1 })) }, 'logo'],
    [{ logo: uri(png({ width: 1_001, height: 1 })) }, 'logo'],
    [{ logo: uri(png({ width: 1, height: 1_001, pixels: deflateSync(Buffer.alloc(2 * 1_001)) })) }, 'logo'],
    [{ logo: uri(png({ pixels: deflateSync(Buffer.alloc(5)) })) }, 'logo'],
    [{ logo: uri(png({ pixels: deflateSync(Buffer.alloc(5_000_000)) })) }, 'logo'],
    [{ logo: uri(png({ extra: chunk('tEXt', Buffer.alloc(16 * 1_024)) })) }, 'logo'],
  ])('is refused: %j', async (body, param) => {
    const { status, json } = await patch(body);
    expect([status, json.error.code, json.error.param]).toEqual([400, 'parameter_invalid', param]);
  });

  test('takes messages in the languages of the page only', async () => {
    const { status, json } = await patch({ messages: { nl: 'Hallo' } });
    expect([status, json.error.param]).toEqual([400, 'messages.nl']);
  });
});

describe('a logo', () => {
  test('is stored without anything that is not the picture', async () => {
    const { key } = await newAccount();
    const secret = chunk('tEXt', Buffer.from('Comment\0taken at home'));
    const given = Buffer.concat([png({ extra: secret }), Buffer.from('<script>')]);
    const { json } = await patch({ logo: uri(given) }, key);
    expect(json.logo).toBe(uri(png()));
    expect((await patch({ name: 'Another' }, key)).json.logo).toBe(uri(png()));
  });

  test.each([
    [
      'a palette and a transparent color',
      png({
        colorType: 3,
        pixels: deflateSync(Buffer.from([0, 0, 1, 0, 1, 0])),
        extra: Buffer.concat([
          chunk('PLTE', Buffer.from([1, 2, 3, 250, 251, 252])),
          chunk('tRNS', Buffer.from([255, 0])),
        ]),
      }),
      [...[1, 2, 3, 255], ...[250, 251, 252, 0], ...[250, 251, 252, 0], ...[1, 2, 3, 255]],
    ],
    [
      'transparency for each pixel',
      PNG.sync.write(Object.assign(new PNG({ width: 2, height: 1 }), { data: Buffer.from('abcdEFGH') })),
      [...Buffer.from('abcdEFGH')],
    ],
  ])('in color with %s is stored with all of it', async (_, given, expected) => {
    const { status, json } = await patch({ logo: uri(given) });
    expect(status).toBe(200);
    const { data } = fromPng(Buffer.from(json.logo.split(',')[1], 'base64'));
    expect([...data]).toEqual(expected);
  });

  test('is shown by the page, below 30 kB together, and kept by no cache', async () => {
    const account = await newAccount();
    const logo = drawQr('https://shop.example').png.bytes;
    expect((await patch({ logo: uri(logo) }, account.key)).status).toBe(200);
    const { url } = await newLink(account);
    const page = await (await fetch(url)).text();
    expect(page).toContain(`<img src="${new URL(url).pathname}/logo" alt="">`);
    const picture = await fetch(`${url}/logo`);
    expect(picture.headers.get('content-type')).toBe('image/png');
    expect(picture.headers.get('cache-control')).toBe('no-store');
    expect(Buffer.from(await picture.arrayBuffer()).equals(logo)).toBe(true);
    await patch({ logo: null }, account.key);
    expect(await (await fetch(url)).text()).not.toContain('/logo');
    expect((await fetch(`${url}/logo`)).status).toBe(404);
  });
});

test('the page shows the seller’s name, color, message, contact, top-up and APN, escaped', async () => {
  const account = await newAccount();
  await patch(
    {
      ...{ name: '<b>Nomad</b>', color: '#facc15', apn: 'internet.nomad' },
      ...{ support_url: 'tel:+4930123', top_up_url: 'https://shop.example/?a=1&b=2' },
      messages: { en: 'Safe & sound' },
    },
    account.key,
  );
  const { url, iccid } = await newLink(account);
  const page = await (await fetch(url)).text();
  for (const part of [
    '&lt;b&gt;Nomad&lt;/b&gt;',
    '--brand:#facc15;--on-brand:#000000',
    'Safe &amp; sound',
    'href="tel:+4930123"',
  ])
    expect(page).toContain(part);
  expect(page).not.toContain('shop.example');
  const simulate = (body: object) =>
    call(service, 'POST', `/v1/sandbox/esims/${iccid}/simulate`, { body, key: account.key });
  await simulate({ action: 'enable' });
  await simulate({ action: 'attach', country: 'FR' });
  const online = await (await fetch(url)).text();
  expect(online).toContain('href="https://shop.example/?a=1&amp;b=2"');
  expect(online).toContain('<dd dir="ltr">internet.nomad</dd>');
});
