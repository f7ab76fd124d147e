import { exampleIccid } from './example-values.ts';
import { Type } from './type.ts';

/**
 * 18 to 20 digits. A string because it exceeds a JSON number's precision. ITU-T E.118 prescribes `89` first and a check digit
 * last, but an SM-DP+ may assign others, which are stored as given.
 */
export const iccid = Type.String({
  pattern: '^[0-9]{18,20}$',
  description: 'ICCID of the eSIM: 18 to 20 digits.',
  examples: [exampleIccid],
});

/** Appends the Luhn check digit (ISO/IEC 7812-1 annex B), which ITU-T E.118 prescribes for ICCIDs. */
export function withCheckDigit(digits: string): string {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 0 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return digits + String((10 - (sum % 10)) % 10);
}

/** Whether the text is an ICCID as E.118 prescribes it, with a correct check digit. */
export function isIccid(text: string): boolean {
  return /^89[0-9]{16,18}$/.test(text) && withCheckDigit(text.slice(0, -1)) === text;
}

export const iccidParams = Type.Object({
  iccid: Type.String({ description: 'ICCID of the eSIM.', examples: [exampleIccid] }),
});
