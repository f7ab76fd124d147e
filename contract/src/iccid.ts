import { Type } from 'typebox';

/** 18 to 20 digits, `89` first (ITU-T E.118). Always a string: it does not fit a JSON number. */
export const iccid = Type.String({
  pattern: '^89[0-9]{16,18}$',
  description: 'Identifies the eSIM.',
  examples: ['8999901000000000018'],
});

/** Adds the check digit: Luhn (ISO/IEC 7812-1 annex B), as ITU-T E.118 has it for ICCIDs. */
export function withCheckDigit(digits: string): string {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 0 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return digits + String((10 - (sum % 10)) % 10);
}

/** Whether it has the form of an ICCID and the right check digit. */
export function isIccid(text: string): boolean {
  return /^89[0-9]{16,18}$/.test(text) && withCheckDigit(text.slice(0, -1)) === text;
}

export const iccidParams = Type.Object({
  iccid: Type.String({ description: 'The eSIM’s ICCID.', examples: ['8999901000000000018'] }),
});
