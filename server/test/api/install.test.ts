import { Resvg } from '@resvg/resvg-js';
import type { EsimStatus, Scope } from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { uuidText } from '../../src/platform/ids/uuid.ts';
import { esimMatchingIdPlace } from '../../src/platform/secrets/sealed-places.ts';
import { call } from '../support/client.ts';
import { exchange, head } from '../support/raw-http.ts';
import { decode, fromPng, type Image } from '../support/scan-qr.ts';
import { startService, type TestService } from '../support/service.ts';

const smdpAddress = 'smdp.sandbox.simplane.example';
const pixelsPerModule = 8;
const quietModules = 4;

let service: TestService;
let ready: Inserted;

beforeAll(async () => {
  service = await startService();
  ready = await insertEsim('provisioned');
});
afterAll(() => service.stop());

type Inserted = { iccid: string; matchingId: string; lpa: string };
type Overrides = { accountUuid?: string; confirmationCodeRequired?: boolean; profileState?: string };

let serial = 0;

function seal(matchingId: string, accountUuid: string, iccid: string): string {
  return service.service.keyring.seal(matchingId, esimMatchingIdPlace(accountUuid, iccid));
}

/** Inserts an eSIM in the state that provisioning leaves. */
async function insertEsim(status: EsimStatus, overrides: Overrides = {}): Promise<Inserted> {
  const { accountUuid = service.accountUuid, confirmationCodeRequired = false } = overrides;
  const iccid = `8999901${String(++serial).padStart(12, '0')}`;
  const matchingId = `TEST0-SECRT-${String(serial).padStart(5, '0')}-MATCH`;
  const isReleased = status !== 'provisioning' && status !== 'failed';
  const now = new Date(service.clock.nowMs());
  await service.db.query(
    {
      name: 'test_insert_esim',
      text: `insert into esims (account_id, id, iccid, execution_id, product_id, status, profile_state, metadata,
        smdp_address, matching_id, confirmation_code_required, created_at, provisioned_at)
        values ($1, $2, $3, $4, 'prod_europe_5gb_30d', $5, $6, '{}', $7, $8, $9, $10, $11)`,
    },
    [
      accountUuid,
      uuidText(service.service.newUuid()),
      iccid,
      uuidText(service.service.newUuid()),
      status,
      overrides.profileState ?? (isReleased ? 'released' : 'unknown'),
      isReleased ? smdpAddress : null,
      isReleased ? seal(matchingId, accountUuid, iccid) : null,
      confirmationCodeRequired,
      now,
      isReleased ? now : null,
    ],
  );
  const flag = confirmationCodeRequired ? '$$1' : '';
  return { iccid, matchingId, lpa: `LPA:1$${smdpAddress}$${matchingId}${flag}` };
}

function install(iccid: string, accept?: string, key?: string) {
  return call(service, 'GET', `/v1/esims/${iccid}/install`, {
    ...(accept !== undefined && { headers: { Accept: accept } }),
    ...(key !== undefined && { key }),
  });
}

async function picture(iccid: string, accept: string) {
  const response = await fetch(`${service.url}/v1/esims/${iccid}/install`, {
    headers: { Authorization: `Bearer ${service.key}`, Accept: accept },
  });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

function mediaTypeOf(headers: Headers) {
  return headers.get('content-type')?.split(';', 1)[0];
}

function fromSvg(bytes: Uint8Array): Image {
  return fromPng(new Resvg(Buffer.from(bytes).toString()).render().asPng());
}

/** True for dark modules; fails unless each module has one color. */
function modulesOf({ width, height, data }: Image): boolean[][] {
  expect(width).toBe(height);
  expect(width % pixelsPerModule).toBe(0);
  const size = width / pixelsPerModule;
  return Array.from({ length: size }, (_, row) =>
    Array.from({ length: size }, (_, column) => {
      const shades = new Set<number>();
      for (let y = row * pixelsPerModule; y < (row + 1) * pixelsPerModule; y++) {
        for (let x = column * pixelsPerModule; x < (column + 1) * pixelsPerModule; x++) {
          shades.add(data[(y * width + x) * 4] ?? -1);
        }
      }
      expect(shades.size, `module ${row},${column}`).toBe(1);
      expect([...shades].every((shade) => shade === 0 || shade === 255)).toBe(true);
      return shades.has(0);
    }),
  );
}

function quietZoneOf(modules: boolean[][]) {
  const columns = modules.map((_, column) => modules.map((row) => row[column] ?? false));
  const leading = (lines: boolean[][]) => lines.findIndex((line) => line.includes(true));
  return {
    top: leading(modules),
    bottom: leading(modules.toReversed()),
    left: leading(columns),
    right: leading(columns.toReversed()),
  };
}

/** The first two bits of the format information next to the top left finder pattern, unmasked (ISO/IEC 18004 §7.9). */
function errorCorrectionOf(modules: boolean[][]): string | undefined {
  const line = modules[quietModules + 8] ?? [];
  const bits = (Number(line[quietModules]) << 1) | Number(line[quietModules + 1]);
  return ['M', 'L', 'H', 'Q'][bits ^ 0b10];
}

describe('the install profile', () => {
  test('contains the activation code in every form, and nothing outside its contract', async () => {
    const { status, json, headers } = await install(ready.iccid);
    expect(status).toBe(200);
    expect(mediaTypeOf(headers)).toBe('application/json');
    const { qr, ...rest } = json;
    expect(rest).toEqual({
      object: 'install_profile',
      iccid: ready.iccid,
      lpa: ready.lpa,
      activation_code: ready.lpa.slice('LPA:'.length),
      smdp_address: smdpAddress,
      matching_id: ready.matchingId,
      confirmation_code_required: false,
      ios_install_url: `https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=${ready.lpa}`,
      android_install_url: `https://esimsetup.android.com/esim_qrcode_provisioning?carddata=${ready.lpa}`,
      profile_state: 'released',
    });
    expect(Object.keys(qr).toSorted()).toEqual(['png', 'svg']);
  });

  test('says when the device will ask for a confirmation code, in the QR code too', async () => {
    const esim = await insertEsim('provisioned', { confirmationCodeRequired: true });
    const { json } = await install(esim.iccid);
    expect(json.confirmation_code_required).toBe(true);
    expect(json.activation_code).toBe(`1$${smdpAddress}$${esim.matchingId}$$1`);
    const { bytes } = await picture(esim.iccid, 'image/png');
    expect(decode(fromPng(bytes)).data).toBe(esim.lpa);
  });

  test.each(['provisioned', 'active', 'suspended'] as const)('can be read while %s', async (status) => {
    const esim = await insertEsim(status, { profileState: 'installed' });
    const { status: answered, json } = await install(esim.iccid);
    expect(answered).toBe(200);
    expect(json).toMatchObject({ lpa: esim.lpa, profile_state: 'installed' });
  });

  test.each([
    ['provisioning', 'esim_not_ready', /provisioning.*esim\.provisioned/],
    ['failed', 'esim_not_ready', /order.*failed.*timeline shows why/],
    ['terminated', 'state_conflict', /terminated/],
  ] as const)(
    'is refused while %s with %s, as JSON even if a picture was requested',
    async (status, code, message) => {
      const esim = await insertEsim(status);
      for (const accept of [undefined, 'image/png', 'image/svg+xml']) {
        const reply = await install(esim.iccid, accept);
        expect(reply.status).toBe(409);
        expect(mediaTypeOf(reply.headers)).toBe('application/json');
        expect(reply.headers.get('content-disposition')).toBeNull();
        expect(reply.json.error).toMatchObject({ type: 'conflict_error', code });
        expect(reply.json.error.message).toMatch(message);
        expect(reply.text).not.toContain(esim.matchingId);
      }
    },
  );

  test('of another account is resource_missing, like one that does not exist', async () => {
    const other = await service.createAccount('Other');
    const theirs = await insertEsim('provisioned', { accountUuid: other.accountUuid });
    expect((await install(theirs.iccid, undefined, other.key)).status).toBe(200);
    for (const iccid of [theirs.iccid, '8999901999999999999', 'nonsense']) {
      const reply = await install(iccid, 'image/png');
      expect(reply.status).toBe(404);
      expect(mediaTypeOf(reply.headers)).toBe('application/json');
      expect(reply.json.error).toMatchObject({ code: 'resource_missing', param: 'iccid' });
    }
  });

  test('needs a key with the install scope, or write, which includes it; read is not enough', async () => {
    expect((await call(service, 'GET', `/v1/esims/${ready.iccid}/install`, { key: null })).status).toBe(401);
    for (const scopes of [['install'], ['write'], ['read', 'install']] as Scope[][]) {
      const key = await service.createKey({ scopes });
      expect((await install(ready.iccid, undefined, key)).status).toBe(200);
    }
    for (const scopes of [['read'], ['network'], ['admin'], ['read', 'network', 'admin']] as Scope[][]) {
      const key = await service.createKey({ scopes });
      const reply = await install(ready.iccid, 'image/png', key);
      expect([reply.status, reply.json.error.code]).toEqual([403, 'scope_missing']);
      expect(reply.json.error.message).toContain('the `install` scope (included in `write`)');
      expect(reply.json.error.message).toContain('POST /v1/api_keys');
    }
    // The install scope grants nothing else.
    const installer = await service.createKey({ scopes: ['install'] });
    expect((await call(service, 'GET', `/v1/esims/${ready.iccid}`, { key: installer })).status).toBe(403);
  });
});

describe('the QR code', () => {
  const readers = [
    ['image/png', fromPng, 'png'],
    ['image/svg+xml', fromSvg, 'svg'],
  ] as const;

  test.each(readers)(
    'as %s is read by an independent decoder as exactly the LPA string',
    async (type, read) => {
      const { bytes } = await picture(ready.iccid, type);
      const found = decode(read(bytes));
      expect(found.data).toBe(ready.lpa);
      expect(Buffer.from(found.binaryData).toString()).toBe(ready.lpa);
    },
  );

  test.each(readers)('as %s has 4 light modules around it and error correction M', async (type, read) => {
    const { bytes } = await picture(ready.iccid, type);
    const image = read(bytes);
    const modules = modulesOf(image);
    expect(quietZoneOf(modules)).toEqual({ top: 4, bottom: 4, left: 4, right: 4 });
    expect(modules.length).toBe(17 + 4 * decode(image).version + 2 * quietModules);
    expect(errorCorrectionOf(modules)).toBe('M');
  });

  test.each(readers)(
    'as %s is a separate file, named after the eSIM and never cached',
    async (type, _, ending) => {
      const { response } = await picture(ready.iccid, type);
      expect(response.status).toBe(200);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': type,
        'content-disposition': `inline; filename="esim-${ready.iccid}.${ending}"`,
        'cache-control': 'no-store',
        vary: 'Accept',
        'request-id': expect.stringMatching(/^req_/),
        'service-version': expect.any(String),
      });
    },
  );

  test.each(readers)('as %s equals the data URI in the JSON', async (type, _, name) => {
    const { json } = await install(ready.iccid);
    const { bytes } = await picture(ready.iccid, type);
    expect(json.qr[name]).toBe(`data:${type};base64,${bytes.toString('base64')}`);
  });

  test('is the same picture in both formats', async () => {
    const [png, svg] = await Promise.all([
      picture(ready.iccid, 'image/png'),
      picture(ready.iccid, 'image/svg+xml'),
    ]);
    expect(modulesOf(fromSvg(svg.bytes))).toEqual(modulesOf(fromPng(png.bytes)));
  });

  test('is readable and of level M for short and long addresses', async () => {
    // The first leaves room for level Q in its version, which an encoder may choose by itself.
    for (const address of ['io', 'a.io', `${'long-label.'.repeat(20)}example.com`]) {
      const esim = await insertEsim('provisioned');
      await service.db.query(
        { name: 'test_set_address', text: 'update esims set smdp_address = $2 where iccid = $1' },
        [esim.iccid, address],
      );
      const lpa = `LPA:1$${address}$${esim.matchingId}`;
      const png = fromPng((await picture(esim.iccid, 'image/png')).bytes);
      expect(decode(png).data).toBe(lpa);
      expect(errorCorrectionOf(modulesOf(png))).toBe('M');
      expect(decode(fromSvg((await picture(esim.iccid, 'image/svg+xml')).bytes)).data).toBe(lpa);
    }
  });
});

describe('Accept', () => {
  const png = 'image/png';
  const svg = 'image/svg+xml';
  const json = 'application/json';

  test.each([
    ['*/*', json],
    ['application/*', json],
    ['application/json', json],
    ['', json],
    [png, png],
    [svg, svg],
    ['IMAGE/PNG', png],
    ['image/*', png],
    ['image/png;q=0.5', png],
    ['image/png ; q=0.5 , image/svg+xml ; q=0.9', svg],
    ['image/svg+xml, image/png', svg],
    ['image/png, image/svg+xml', png],
    ['application/json, image/png', json],
    ['image/png, application/json', png],
    ['application/json;q=0.5, image/png', png],
    ['application/json, image/png;q=0.9', json],
    ['image/png;q=0.1, */*', json],
    ['image/png, */*', png],
    ['image/*, */*;q=0.8', png],
    ['image/svg+xml;level=1, image/*;q=0.9', svg],
    ['image/*, image/png;q=0', svg],
    ['image/png;q=0', json],
    ['image/*;q=0, */*', json],
    ['*/*;q=0', json],
    ['image/png;q=much', json],
    ['image/webp', json],
    ['text/html', json],
    ['image/webp, image/png;q=0.1', png],
    ['nonsense', json],
    [';q=1,,;', json],
    // What browsers send for a page and for an <img>.
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', json],
    ['image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8', svg],
    ['image/webp,image/avif,image/jxl,image/heic,image/heic-sequence,video/*;q=0.8,image/png,*/*;q=0.5', png],
  ])('"%s" is answered with %s', async (accept, expected) => {
    const { status, headers } = await install(ready.iccid, accept);
    expect(status).toBe(200);
    expect(mediaTypeOf(headers)).toBe(expected);
    expect(headers.get('vary')).toBe('Accept');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('omitted is answered with JSON', async () => {
    const request = head('GET', `/v1/esims/${ready.iccid}/install`, {
      Authorization: `Bearer ${service.key}`,
    });
    const { headers, json: body } = await exchange(service.url, request);
    expect(mediaTypeOf(headers)).toBe(json);
    expect(body.lpa).toBe(ready.lpa);
  });

  test.each([png, svg, json])(
    '%s to HEAD is answered with the headers of GET and no body',
    async (accept) => {
      const path = `${service.url}/v1/esims/${ready.iccid}/install`;
      const headers = { Authorization: `Bearer ${service.key}`, Accept: accept };
      const [ofHead, ofGet] = await Promise.all([
        fetch(path, { method: 'HEAD', headers }),
        fetch(path, { headers }),
      ]);
      expect(ofHead.status).toBe(200);
      for (const name of ['content-type', 'content-length', 'content-disposition', 'cache-control', 'vary']) {
        expect(ofHead.headers.get(name), name).toBe(ofGet.headers.get(name));
      }
      expect(await ofHead.text()).toBe('');
    },
  );

  test('affects only the install profile', async () => {
    const { headers } = await call(service, 'GET', '/v1/me', { headers: { Accept: png } });
    expect(mediaTypeOf(headers)).toBe(json);
    expect(headers.get('vary')).toBeNull();
  });
});

test('the activation code appears only in the install profile, not in lists, eSIMs or logs', async () => {
  for (const accept of [undefined, 'image/png', 'image/svg+xml']) await install(ready.iccid, accept);
  const list = await call(service, 'GET', '/v1/esims?limit=100');
  const esim = await call(service, 'GET', `/v1/esims/${ready.iccid}`);
  expect(list.json.data.map(({ iccid }: { iccid: string }) => iccid)).toContain(ready.iccid);
  expect(esim.json.iccid).toBe(ready.iccid);
  const logged = () => service.logLines.join('');
  await expect.poll(logged).toContain(`/v1/esims/${ready.iccid}/install`);
  for (const text of [list.text, esim.text, logged()]) {
    expect(text).not.toContain('MATCH');
    expect(text).not.toContain(smdpAddress);
    expect(text).not.toMatch(/LPA:|1\$/);
  }
});

test('an invalid matching id from the network is an internal error, reported without the id', async () => {
  const esim = await insertEsim('provisioned');
  await service.db.query(
    { name: 'test_set_matching_id', text: 'update esims set matching_id = $2 where iccid = $1' },
    [esim.iccid, seal('SPOILT$CODE', service.accountUuid, esim.iccid)],
  );
  const reply = await install(esim.iccid, 'image/png');
  expect(reply.status).toBe(500);
  expect(reply.json.error.code).toBe('internal');
  await expect.poll(() => service.logLines.some((line) => line.includes('the matching id has'))).toBe(true);
  expect(reply.text + service.logLines.join('')).not.toContain('SPOILT');
});
