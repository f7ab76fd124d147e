import fc from 'fast-check';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { parseConnectionUrl } from './connection-url.ts';

/** Each host's address as `pg` parses it. */
function read(text: string) {
  return parseConnectionUrl(text).hosts.map(({ connectionString }) => {
    const { host, port, user, password, database } = new pg.Client({ connectionString });
    return { host, port, user, password, database };
  });
}

const account = { user: 'u', password: 'p', database: 'db' };

describe('hosts are parsed as libpq does', () => {
  test.each([
    ['postgresql://u:p@a/db', [['a', 5432]]],
    ['postgres://u:p@a:6000/db', [['a', 6000]]],
    ['postgres://u:p@a:65535/db', [['a', 65_535]]],
    [
      'postgresql://u:p@a:1,b:2,c/db',
      [
        ['a', 1],
        ['b', 2],
        ['c', 5432],
      ],
    ],
    [
      'postgresql://u:p@a,b:2/db',
      [
        ['a', 5432],
        ['b', 2],
      ],
    ],
    [
      'postgresql://u:p@[::1]:1,[fe80::1%25eth0]/db',
      [
        ['::1', 1],
        ['fe80::1%eth0', 5432],
      ],
    ],
    [
      'postgresql://u:p@%2Ftmp%2Fa:1,b/db',
      [
        ['/tmp/a', 1],
        ['b', 5432],
      ],
    ],
    [
      'postgresql://u:p@/db?host=a,b&port=6000',
      [
        ['a', 6000],
        ['b', 6000],
      ],
    ],
    [
      'postgresql://u:p@/db?host=a,b&port=1,2',
      [
        ['a', 1],
        ['b', 2],
      ],
    ],
    ['postgresql://u:p@localhost:7/db?host=%2Ftmp%2Fs&sslmode=disable', [['/tmp/s', 7]]],
  ] as [string, [string, number][]][])('%s', (text, hosts) => {
    expect(read(text)).toEqual(hosts.map(([host, port]) => ({ ...account, host, port })));
  });

  test('with any user, password and database', () => {
    const part = fc.string({ minLength: 1, unit: 'binary' }).filter((text) => !text.includes('\0'));
    const port = fc.integer({ min: 1, max: 65_535 });
    const host = fc.oneof(fc.domain(), fc.ipV4(), fc.constant('/run/a folder'));
    const hosts = fc.array(fc.record({ host, port }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(part, part, fc.stringMatching(/^[a-z ]+$/), hosts, (user, password, database, all) => {
        const [u, p, d] = [user, password, database].map(encodeURIComponent);
        const list = all.map(({ host, port }) => `${encodeURIComponent(host)}:${port}`).join(',');
        const expected = all.map((one) => ({ user, password, database, ...one }));
        expect(read(`postgresql://${u}:${p}@${list}/${d}?target_session_attrs=primary`)).toEqual(expected);
      }),
    );
  });

  test('with a connect timeout per host and the session target', () => {
    expect(parseConnectionUrl('postgresql://a/db')).toMatchObject({
      target: 'read-write',
      connectTimeoutMs: 5_000,
    });
    const many = 'postgresql://a,b/db?target_session_attrs=primary';
    expect(parseConnectionUrl(many)).toMatchObject({ target: 'primary', connectTimeoutMs: 2_000 });
    expect(parseConnectionUrl('postgresql://a,b/db?connect_timeout=7').connectTimeoutMs).toBe(7_000);
    expect(parseConnectionUrl('postgresql://a,b/db?target_session_attrs=any').target).toBe('read-write');
  });
});

test('other parameters are passed on, except application_name', () => {
  const [host] = parseConnectionUrl(
    'postgresql://a/db?application_name=x&sslmode=disable&options=-csearch_path%3Dy',
  ).hosts;
  expect(host?.connectionString).toBe(
    'postgresql://localhost/db?sslmode=disable&options=-csearch_path%3Dy&host=a&port=5432',
  );
});

describe('an invalid URL is refused with an error that does not repeat it', () => {
  test.each([
    ['mysql://u:hunter2@a/db', 'takes a `postgresql://` URL'],
    ['postgresql://u:hunter2#x@a/db', '%23'],
    ['postgresql://u:p@a:hunter2/db', 'port'],
    ['postgresql://u:p@a:99999/db', 'port'],
    ['postgresql://u:p@a:0/db', 'port'],
    ['postgresql://u:p@::1:5432/db', 'brackets'],
    ['postgresql://u:p@a,b/db?port=1,2,3', '2 hosts and 3 ports'],
    ['postgresql://u:p@a%ff/db?port=hunter2', 'percent-encoding that is not UTF-8'],
    ['postgresql://u:p@a/db?target_session_attrs=prefer-standby', '`prefer-standby` cannot work'],
    ['postgresql://u:p@a/db?target_session_attrs=hunter2', 'takes `read-write`'],
    ['postgresql://u:p@a,b/db?load_balance_hosts=random', 'load_balance_hosts'],
    ['postgresql://u:p@a,b/db?connect_timeout=soon', 'connect_timeout'],
    ['postgresql://u:p@a,b/db?connect_timeout=0', 'connect_timeout'],
  ])('%s', (text, says) => {
    expect(() => parseConnectionUrl(text)).toThrow(says);
    expect(() => parseConnectionUrl(text)).not.toThrow(/hunter2/);
  });
});
