/** 32 digits of which the last two make the whole leave 1 when divided by 97 (SGP.02 §2.2.2). */
export function isEid(text: string): boolean {
  return /^\d{32}$/.test(text) && BigInt(text) % 97n === 1n;
}
