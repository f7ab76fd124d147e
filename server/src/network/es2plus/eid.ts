/** SGP.02 §2.2.2: 32 digits that, read as one number, leave 1 when divided by 97. */
export function isValidEid(eid: string): boolean {
  return /^\d{32}$/.test(eid) && BigInt(eid) % 97n === 1n;
}
