/** ITU-T E.118: `89` first, a Luhn check digit last (ISO/IEC 7812-1 annex B). */
export function isValidIccid(iccid: string): boolean {
  return /^89\d{16,18}$/.test(iccid) && luhnSum(iccid) % 10 === 0;
}

function luhnSum(digits: string): number {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum;
}
