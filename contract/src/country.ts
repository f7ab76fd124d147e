import { Type } from './type.ts';

/** ISO 3166-1 alpha-2, by first letter. XK is not in ISO, but is what networks report for Kosovo. */
const secondLetters: Record<string, string> = {
  A: 'DEFGILMOQRSTUWXZ',
  B: 'ABDEFGHIJLMNOQRSTVWYZ',
  C: 'ACDFGHIKLMNORUVWXYZ',
  D: 'EJKMOZ',
  E: 'CEGHRST',
  F: 'IJKMOR',
  G: 'ABDEFGHILMNPQRSTUWY',
  H: 'KMNRTU',
  I: 'DELMNOQRST',
  J: 'EMOP',
  K: 'EGHIMNPRWYZ',
  L: 'ABCIKRSTUVY',
  M: 'ACDEFGHKLMNOPQRSTUVWXYZ',
  N: 'ACEFGILOPRUZ',
  O: 'M',
  P: 'AEFGHKLMNRSTWY',
  Q: 'A',
  R: 'EOSUW',
  S: 'ABCDEGHIJKLMNORSTVXYZ',
  T: 'CDFGHJKLMNORTVWZ',
  U: 'AGMSYZ',
  V: 'ACEGINU',
  W: 'FS',
  X: 'K',
  Y: 'ET',
  Z: 'AMW',
};

const groups = Object.entries(secondLetters).map(([first, second]) => `${first}[${second}]`);

export const countryPattern = `^(${groups.join('|')})$`;

/** For requests and files. */
export function countryInput(options: object = {}) {
  return Type.String({ pattern: countryPattern, ...options });
}
