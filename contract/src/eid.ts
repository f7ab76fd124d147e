/** 32 digits; the last two are check digits, so that the number modulo 97 is 1 (SGP.02 §2.2.2). */
export function isEid(text: string): boolean {
  return /^\d{32}$/.test(text) && BigInt(text) % 97n === 1n;
}
