import { pageLanguages } from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { devices } from '../../src/http/install/detect-device.ts';
import { call } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { exchange, head } from '../support/raw-http.ts';
import { startService, type TestService } from '../support/service.ts';

const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';
const matchingId = 'SECRET-MATCHING-ID';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

type Link = { id: string; iccid: string; url: string };

async function newLink(body: object = {}, iccid?: string): Promise<Link> {
  const path = `/v1/esims/${iccid ?? (await insertEsim(service))}/install_links`;
  return (await call(service, 'POST', path, { body })).json;
}

type Request = { method?: string; headers?: Record<string, string>; body?: string };

async function open(url: string, { headers = {}, ...init }: Request = {}) {
  const response = await fetch(url, {
    ...{ redirect: 'manual', headers: { 'User-Agent': iphone, ...headers } },
    ...init,
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** As the page's form does. */
function tap(url: string, headers: Record<string, string> = {}) {
  const form = { 'Content-Type': 'application/x-www-form-urlencoded', Origin: 'null' };
  return open(url, {
    method: 'POST',
    headers: { ...form, 'Sec-Fetch-Site': 'same-origin', ...headers },
    body: '',
  });
}

function simulate(iccid: string, body: object) {
  return call(service, 'POST', `/v1/sandbox/esims/${iccid}/simulate`, { body });
}

const auditOf = async (target: string) =>
  (await call(service, 'GET', `/v1/audit_log?target=${target}&limit=100`)).json.data;
const opened = async (iccid: string) =>
  (await call(service, 'GET', `/v1/events?iccid=${iccid}&type=install_link.opened`)).json.data;
const linkOf = async ({ iccid }: Link) =>
  (await call(service, 'GET', `/v1/esims/${iccid}/install_links`)).json.data[0];

describe('the page of an install link', () => {
  test('is kept by no cache, framed by no site, found by no search engine, and asks no other host', async () => {
    const { url } = await newLink();
    for (const { status, headers } of [await open(url), await tap(url), await open(`${url}/status`)]) {
      expect(status).toBe(200);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-robots-tag')).toBe('noindex, nofollow');
      for (const kind of ['opener', 'resource'])
        expect(headers.get(`cross-origin-${kind}-policy`), kind).toBe('same-origin');
      expect(headers.get('set-cookie')).toBeNull();
    }
    const policy = (await open(url)).headers.get('content-security-policy') ?? '';
    const [, nonce] = /script-src 'nonce-([^']+)'/.exec(policy) ?? [];
    expect(policy).toBe(
      `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src 'self' data:; connect-src 'self'; ` +
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    expect((await open(url)).headers.get('content-security-policy')).not.toContain(nonce);
  });

  test('shows the activation code only after a tap, and notes who saw it', async () => {
    const { url, iccid, id } = await newLink();
    expect((await open(url)).text).not.toContain(matchingId);
    expect((await auditOf(iccid)).map(({ action }: { action: string }) => action)).toEqual([
      'esim.install_link_created',
    ]);
    const { status, text } = await tap(url);
    expect(status).toBe(200);
    expect(text).toContain(
      `href="https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=LPA:1$smdp.example$${matchingId}"`,
    );
    expect((await auditOf(iccid))[0]).toMatchObject({
      action: 'esim.install_profile_viewed',
      actor: { type: 'anonymous', id: null, name: null },
      ...{ changes: { install_link_id: id }, ip: '127.0.0.1' },
    });
    expect(service.logLines.join('\n')).not.toMatch(/SECRET-MATCHING-ID|LPA:/);
  });

  test.each([
    ['iphone', 'https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=LPA:'],
    ['android', 'https://esimsetup.android.com/esim_qrcode_provisioning?carddata=LPA:'],
    ['computer', 'src="data:image/svg+xml;base64,'],
    ['other', '<details open>'],
  ])('has on %s what installs there', async (device, expected) => {
    const { url } = await newLink();
    const chosen = await tap(`${url}?device=${device}`);
    expect(chosen.text).toContain(expected);
    expect(chosen.text).toContain(matchingId);
  });

  test('is below 30 kB in every language, for every device, before and after the tap, and mirrored in Arabic', async () => {
    const esims = await Promise.all(pageLanguages.map(() => insertEsim(service)));
    for (const [index, language] of pageLanguages.entries()) {
      const { url } = await newLink({ language }, esims[index]);
      for (const device of devices) {
        for (const { text } of [
          await open(`${url}?device=${device}`),
          await tap(`${url}?device=${device}`),
        ]) {
          expect(Buffer.byteLength(text)).toBeLessThan(30_000);
          expect(text).toContain(`<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">`);
          expect(text).not.toMatch(/undefined|\{name\}|\[object/);
        }
      }
    }
  });

  test('speaks the language of its link, else that of the browser, else English', async () => {
    const [plain, german] = [await newLink(), await newLink({ language: 'de' })];
    const languageOf = async ({ url }: Link, accepted: string) =>
      /<html lang="(\w+)"/.exec((await open(url, { headers: { 'Accept-Language': accepted } })).text)?.[1];
    expect(await languageOf(german, 'fr')).toBe('de');
    expect(await languageOf(plain, 'nl, fr-CA;q=0.8, ar;q=0.9')).toBe('ar');
    expect(await languageOf(plain, 'zh-Hant-TW')).toBe('zh');
    expect(await languageOf(plain, 'fr;q=0, nl')).toBe('en');
  });

  test('a form of another site gets the page without the code', async () => {
    const { url, iccid } = await newLink();
    const replies = [
      await tap(`${url}?device=android`, { 'Sec-Fetch-Site': 'cross-site' }),
      await tap(url, { 'Sec-Fetch-Site': 'same-site' }),
      await tap(url, { Origin: 'https://evil.example' }),
      await tap(url, { Origin: `${new URL(url).origin}.evil.example` }),
      await tap(url, { Origin: 'nonsense' }),
    ];
    for (const { status, headers, text } of replies) {
      expect([status, headers.get('location')]).toEqual([303, new URL(url).pathname]);
      expect(text).not.toContain(matchingId);
    }
    expect(await auditOf(iccid)).toHaveLength(1);
  });

  test('a form of the page itself gets the code, whatever the browser tells of it and sends with it', async () => {
    const { url } = await newLink();
    const { host, origin, pathname } = new URL(url);
    for (const headers of [{ Origin: origin }, { 'Sec-Fetch-Site': 'none' }])
      expect((await tap(url, headers as Record<string, string>)).text).toContain(matchingId);
    const form = { Host: host, 'User-Agent': iphone, 'Content-Type': 'application/x-www-form-urlencoded' };
    for (const [framing, body] of [
      [{ 'Content-Length': 3 }, 'a=b'],
      [{ 'Transfer-Encoding': 'chunked' }, '3\r\na=b\r\n0\r\n\r\n'],
    ] as const) {
      const reply = await exchange(service.url, head('POST', pathname, { ...form, ...framing }) + body);
      expect([reply.status, reply.text.includes(matchingId)]).toEqual([200, true]);
    }
  });

  test('tells what went wrong with the installation until something else is wrong', async () => {
    const { url, iccid } = await newLink();
    const isTold = async () => (await open(url)).text.includes('class="bad"');
    const set = (text: string) => service.db.pool.query(`update esims set ${text} where iccid = $1`, [iccid]);
    const error = JSON.stringify({ code: 'device_memory_full', message: '', upstream: {} });
    await set(`profile_state = 'error', profile_error = '${error}'`);
    expect(await isTold()).toBe(true);
    await set(`status = 'suspended', resumes_to = 'provisioned'`);
    expect(await isTold()).toBe(false);
  });

  test('shows the code no more once a phone has the profile', async () => {
    const { url, iccid } = await newLink();
    await simulate(iccid, { action: 'download' });
    const page = await open(url);
    expect(page.text).toContain('Your eSIM is downloaded');
    expect(page.text).not.toContain('<form');
    expect((await tap(url)).status).toBe(303);
  });

  test('shows the code 20 times an hour, then asks to wait', async () => {
    const { url, iccid } = await newLink();
    for (let count = 0; count < 20; count++) expect((await tap(url)).status).toBe(200);
    const { status, headers, text } = await tap(url);
    expect([status, headers.get('retry-after')]).toEqual([429, '3600']);
    expect(text).toContain('Please wait');
    expect(text).not.toContain(matchingId);
    expect(await auditOf(iccid)).toHaveLength(21);
  });

  test('leads back to the seller, and tells the data left, only once the eSIM is online', async () => {
    const { url, iccid } = await newLink({ return_url: 'https://shop.example/?a=1&b="2"' });
    expect((await open(url)).text).not.toContain('shop.example');
    await simulate(iccid, { action: 'enable' });
    await simulate(iccid, { action: 'attach', country: 'FR' });
    const { text } = await open(url);
    expect(text).toContain('You are online');
    expect(text).toContain('href="https://shop.example/?a=1&amp;b=&quot;2&quot;"');
    expect(text).toContain('Back to Test account');
    expect(text).toContain('Data left');
  });
});

describe('the status of a link', () => {
  test('follows the installation', async () => {
    const { url, iccid } = await newLink();
    const step = async () => JSON.parse((await open(`${url}/status`)).text).step;
    const seen = [await step()];
    for (const body of [
      { action: 'download' },
      { action: 'install' },
      { action: 'attach', country: 'FR' },
      { action: 'delete' },
    ]) {
      await simulate(iccid, body);
      seen.push(await step());
    }
    expect(seen).toEqual(['ready', 'downloaded', 'installed', 'online', 'deleted']);
  });

  test('is sent again only if it changed, and is no view', async () => {
    const link = await newLink();
    const etag = (await open(`${link.url}/status`)).headers.get('etag') ?? '';
    const again = await open(`${link.url}/status`, { headers: { 'If-None-Match': etag } });
    expect([again.status, again.text]).toEqual([304, '']);
    expect((await linkOf(link)).opened_at).toBeNull();
    await simulate(link.iccid, { action: 'download' });
    expect((await open(`${link.url}/status`, { headers: { 'If-None-Match': etag } })).status).toBe(200);
  });

  test('is bounded for one link, not for others', async () => {
    const [link, other] = [await newLink(), await newLink()];
    const replies = await Promise.all(Array.from({ length: 150 }, () => open(`${link.url}/status`)));
    const statuses = new Set(replies.map(({ status }) => status));
    expect(statuses).toEqual(new Set([200, 429]));
    const refused = replies.find(({ status }) => status === 429);
    expect(refused?.headers.get('retry-after')).toBe('1');
    expect(JSON.parse(refused?.text ?? '').error.code).toBe('rate_limited');
    expect((await open(`${other.url}/status`)).status).toBe(200);
  });
});

describe('a view', () => {
  test('is one event per link, however many open it at once, and an audit entry each time', async () => {
    const link = await newLink();
    await Promise.all(Array.from({ length: 5 }, () => open(link.url)));
    await open(link.url);
    const { opened_at: at } = await linkOf(link);
    expect(at).toBeGreaterThan(0);
    expect(await opened(link.iccid)).toMatchObject([
      { data: { iccid: link.iccid, product_id: 'prod_europe_5gb_30d', install_link_id: link.id } },
    ]);
    const entries = await auditOf(link.id);
    expect(entries).toHaveLength(6);
    expect(entries[0]).toMatchObject({
      action: 'install_link.viewed',
      target: { type: 'install_link', id: link.id },
      ...{ changes: { iccid: link.iccid }, actor: { type: 'anonymous' }, ip: '127.0.0.1' },
    });
    expect((await call(service, 'GET', `/v1/audit_log?actor=operator`)).json.data).toEqual([]);
  });

  test.each([
    ['HEAD', iphone, {}],
    ['GET', 'facebookexternalhit/1.1 Facebot Twitterbot/1.0', {}],
    ['GET', 'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)', {}],
    ['GET', 'WhatsApp/2.23.20.0', {}],
    ['GET', 'curl/8.5.0', {}],
    ['GET', iphone, { 'Sec-Purpose': 'prefetch' }],
    ['GET', iphone, { 'X-Purpose': 'preview' }],
  ])('is not %s by %s with %j', async (method, userAgent, headers) => {
    const link = await newLink();
    const reply = await open(link.url, { method, headers: { 'User-Agent': userAgent, ...headers } });
    expect(reply.status).toBe(200);
    expect((await linkOf(link)).opened_at).toBeNull();
    expect(await opened(link.iccid)).toEqual([]);
    expect(await auditOf(link.id)).toEqual([]);
  });

  test('leaves at most 60 audit entries an hour and link', async () => {
    const link = await newLink();
    for (let count = 0; count < 65; count++) await open(link.url);
    const { rows } = await service.db.pool.query(
      `select count(*)::integer as count from audit_log where target_id = $1`,
      [link.id],
    );
    expect(rows[0].count).toBe(60);
  });
});

describe('a token that does not work', () => {
  const withoutNonce = (text: string) => text.replaceAll(/nonce="[^"]+"/g, '');

  test('gets one answer, whether it was guessed, revoked or has expired, or the eSIM has ended', async () => {
    const [revoked, expired, terminated] = [
      await newLink(),
      await newLink({ expires_in: 300 }),
      await newLink(),
    ];
    await call(service, 'DELETE', `/v1/esims/${revoked.iccid}/install_links/${revoked.id}`);
    await service.db.pool.query(`update esims set status = 'terminated' where iccid = $1`, [
      terminated.iccid,
    ]);
    service.clock.advance(301_000);
    const urls = [
      revoked.url,
      expired.url,
      terminated.url,
      `${service.url}/i/${'A'.repeat(43)}`,
      `${service.url}/i/x`,
      `${service.url}/i/${'x'.repeat(8_000)}`,
      `${revoked.url}/status`,
    ];
    const replies = [...(await Promise.all(urls.map((url) => open(url)))), await tap(revoked.url)];
    const [first, ...others] = replies.map(({ status, text, headers }) => ({
      status,
      text: withoutNonce(text),
      cache: headers.get('cache-control'),
    }));
    expect(first?.status).toBe(404);
    expect(first?.text).toContain('This link has ended');
    for (const other of others) expect(other).toEqual(first);
    const german = await open(revoked.url, { headers: { 'Accept-Language': 'de' } });
    expect(german.text).toContain('Dieser Link gilt nicht mehr');
    const lines = () =>
      service.logLines.map((line) => JSON.parse(line)).filter(({ status }) => status === 404);
    await expect.poll(() => lines().length).toBeGreaterThan(urls.length);
    for (const line of lines()) expect(line).toMatchObject({ error_code: 'resource_missing' });
  });

  test('costs one statement, as every other', async () => {
    const [expired, terminated] = [await newLink({ expires_in: 300 }), await newLink()];
    await service.db.pool.query(`update esims set status = 'terminated' where iccid = $1`, [
      terminated.iccid,
    ]);
    service.clock.advance(301_000);
    const statements: string[] = [];
    const { query } = service.db;
    service.db.query = (statement, values) => {
      statements.push(statement.name);
      return query(statement, values);
    };
    try {
      for (const url of [expired.url, terminated.url, `${service.url}/i/guessed`]) {
        statements.length = 0;
        await open(url);
        expect(statements).toEqual(['install_link_find']);
      }
    } finally {
      service.db.query = query;
    }
  });

  test('waits after a hundred others from its address, which delays neither a link that works nor a key', async () => {
    const { url } = await newLink();
    const stopping = new AbortController();
    let answered = 0;
    const guess = async (_: unknown, guesser: number) => {
      while (!stopping.signal.aborted) {
        expect((await open(`${service.url}/i/guess-${guesser}-${answered}`)).status).toBe(404);
        answered += 1;
      }
    };
    const startedMs = performance.now();
    const guessers = Array.from({ length: 20 }, guess);
    let opened = 0;
    while (answered < 180) {
      // The link's own limit is not what this is about.
      if (opened++ < 50) expect((await open(`${url}/status`)).status).toBe(200);
      expect((await call(service, 'GET', '/v1/me')).status).toBe(200);
    }
    const seconds = (performance.now() - startedMs) / 1_000;
    stopping.abort();
    await Promise.all(guessers);
    expect(answered).toBeLessThanOrEqual(100 + 20 * seconds + guessers.length);
  });
});
