import { expect, test } from 'vitest';
import {
  accountScopes,
  countryPattern,
  decodeId,
  describeScope,
  encodeId,
  hasScope,
  isEid,
  isIccid,
  withCheckDigit,
} from '../src/index.ts';

test('a key has the scopes that it was given, and with write also install', () => {
  const having = (given: (typeof accountScopes)[number]) =>
    accountScopes.filter((scope) => hasScope([given], scope));
  expect(accountScopes.map(having)).toEqual([
    ...[['read'], ['write', 'install'], ['network'], ['admin'], ['install']],
  ]);
  expect(accountScopes.map((scope) => hasScope(['operator', 'operator_write'], scope))).not.toContain(true);
  expect(hasScope([], 'read')).toBe(false);
  expect([describeScope('read'), describeScope('install')]).toEqual([
    ...['the `read` scope', 'the `install` scope (included in `write`)'],
  ]);
});

test('an id is read as what it was made of, and no other text is one', () => {
  const uuids = [0, 255, 0x5a].map((byte) => new Uint8Array(16).fill(byte));
  for (const uuid of uuids) expect(decodeId('evt', encodeId('evt', uuid))).toEqual(uuid);
  const id = encodeId('evt', new Uint8Array(16).fill(0x5a));
  for (const other of [
    ...[id.slice(1), `${id}0`, ` ${id}`, `${id}\n`, id.slice(0, -1), id.toUpperCase(), ''],
    ...[id.replace('evt_', 'exec_'), id.replace('evt_', 'evt'), `evt_8${'0'.repeat(25)}`],
    ...['i', 'l', 'o', 'u'].map((letter) => `${id.slice(0, -1)}${letter}`),
  ])
    expect(decodeId('evt', other), other).toBeNull();
});

test('an EID has 32 digits, of which the last two check the others', () => {
  expect(isEid('89882119900000000000000000001654')).toBe(true);
  for (const other of ['89882119900000000000000000001655', '8988211990000000000000000001654', '1', '98', ''])
    expect(isEid(other), other).toBe(false);
  expect(isEid('8988211990000000000000000000165x')).toBe(false);
});

test('an ICCID of E.118 begins with 89, has 18 to 20 digits and ends with its check digit', () => {
  // The example of ISO/IEC 7812-1, and digits whose double is above nine.
  expect(withCheckDigit('7992739871')).toBe('79927398713');
  expect(['0', '5'].map(withCheckDigit)).toEqual(['00', '59']);
  for (const length of [17, 18, 19]) expect(isIccid(withCheckDigit('89'.padEnd(length, '7')))).toBe(true);
  for (const length of [16, 20]) expect(isIccid(withCheckDigit('89'.padEnd(length, '7')))).toBe(false);
  expect(isIccid(withCheckDigit('88'.padEnd(18, '7')))).toBe(false);
  const iccid = withCheckDigit('8999901000000000001');
  expect([isIccid(iccid), isIccid(`${iccid.slice(0, -1)}${(Number(iccid.at(-1)) + 1) % 10}`)]).toEqual([
    ...[true, false],
  ]);
});

test('a country is one of ISO 3166-1, or Kosovo', () => {
  const isCountry = (code: string) => new RegExp(countryPattern).test(code);
  for (const code of ['DE', 'US', 'XK', 'ZW']) expect(isCountry(code), code).toBe(true);
  for (const code of ['XX', 'UK', 'de', 'DEU', 'D', 'ADE', '']) expect(isCountry(code), code).toBe(false);
});
