import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeActivation, newMatchingId } from './activation-code.ts';

// Written from SGP.22 §4.1, independently of the code under test: format 1, a host name, a matching id, then either nothing
// or an object identifier (which may be empty) and the flag.
const grammar =
  /^1\$(?<address>[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)\$(?<matchingId>[-0-9A-Z]*)(?:\$(?<oid>(?:[0-9]+(?:\.[0-9]+)*)?)(?:\$(?<flag>1))?)?$/;

const smdpAddress = fc.oneof(fc.domain(), fc.constantFrom('SMDP.GSMA.COM', 'rsp-0001.example.com'));
const matchingId = fc.stringMatching(/^[-0-9A-Z]{1,40}$/);
const parts = fc.record({ smdpAddress, matchingId, confirmationCodeRequired: fc.boolean() });

describe('the activation code', () => {
  test('matches the grammar of SGP.22 and parses back to its parts', () => {
    fc.assert(
      fc.property(parts, (given) => {
        const { activationCode, lpa } = describeActivation(given);
        const read = grammar.exec(activationCode)?.groups;
        expect(read?.['address']).toBe(given.smdpAddress);
        expect(read?.['matchingId']).toBe(given.matchingId);
        expect(read?.['oid'] ?? '').toBe('');
        expect(read?.['flag']).toBe(given.confirmationCodeRequired ? '1' : undefined);
        expect(lpa).toBe(`LPA:${activationCode}`);
      }),
    );
  });

  test.each([
    [false, '1$smdp.example.com$K2-1B3D-9XY'],
    [true, '1$smdp.example.com$K2-1B3D-9XY$$1'],
  ])('with confirmationCodeRequired %s is %s', (confirmationCodeRequired, expected) => {
    const given = { smdpAddress: 'smdp.example.com', matchingId: 'K2-1B3D-9XY', confirmationCodeRequired };
    expect(describeActivation(given).activationCode).toBe(expected);
  });

  test('is in the install links, which a URL parser does not change', () => {
    fc.assert(
      fc.property(parts, (given) => {
        const { lpa, iosInstallUrl, androidInstallUrl } = describeActivation(given);
        for (const [link, host] of [
          [iosInstallUrl, 'esimsetup.apple.com'],
          [androidInstallUrl, 'esimsetup.android.com'],
        ] as const) {
          const url = new URL(link);
          expect(url.href).toBe(link);
          expect([url.protocol, url.host, url.pathname]).toEqual([
            'https:',
            host,
            '/esim_qrcode_provisioning',
          ]);
          expect([...url.searchParams]).toEqual([['carddata', lpa]]);
          expect(link.endsWith(`?carddata=${lpa}`)).toBe(true);
        }
      }),
    );
  });

  test.each([
    ['smdp.example.com', 'A$B'],
    ['smdp.example.com', ''],
    ['smdp.example.com', 'A B'],
    ['smdp.example.com', 'A&B'],
    ['smdp.example.com\n', 'AB'],
    ['smdp$example', 'AB'],
    ['', 'AB'],
  ])('is never made from %j and %j, and the error does not contain them', (address, id) => {
    const make = () =>
      describeActivation({ smdpAddress: address, matchingId: id, confirmationCodeRequired: false });
    expect(make).toThrow(/^the (SM-DP\+ address is not a host name|matching id has invalid characters)$/);
  });
});

describe('a new matching id', () => {
  test('is four groups of five unambiguous characters for any random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
        const id = newMatchingId(() => bytes);
        expect(id).toMatch(/^[-0-9A-Z]*$/);
        expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){3}$/);
      }),
    );
  });

  test('carries 100 random bits, five in each of its 20 characters', () => {
    const fixed = new Uint8Array(20);
    for (let index = 0; index < 20; index++) {
      const ids = Array.from({ length: 32 }, (_, value) => newMatchingId(() => fixed.with(index, value)));
      expect(new Set(ids).size).toBe(32);
    }
  });

  test('uses system randomness by default and does not repeat', () => {
    const ids = Array.from({ length: 10_000 }, () => newMatchingId());
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(ids.map(({ length }) => length))).toEqual(new Set([23]));
  });
});
