import { isIccid } from '@simplane/contract';

/** Numbers that an operator may give out: `first` without its check digit, and how many there are from it on. */
export type IccidRange = { first: string; size: number };

const lengthWithoutCheck = 18;

/**
 * Reads `from-to`, both whole ICCIDs, or the beginning that all numbers have: the issuer's digits from the numbering
 * authority (ITU-T E.118) and as many more as the operator has set aside. Undefined when it is none of these.
 */
export function parseIccidRanges(text: string): IccidRange[] | undefined {
  const ranges = text.split(',').map((part) => parseRange(part.trim()));
  if (!ranges.every((range) => range !== undefined)) return undefined;
  return overlap(ranges) ? undefined : ranges;
}

function parseRange(text: string): IccidRange | undefined {
  // At least three digits are left for the numbers themselves.
  if (/^89\d{3,13}$/.test(text)) {
    const serialDigits = lengthWithoutCheck - text.length;
    return { first: text.padEnd(lengthWithoutCheck, '0'), size: 10 ** serialDigits };
  }
  const [, from, to] = /^(89\d{17})-(89\d{17})$/.exec(text) ?? [];
  if (!from || !to || !isIccid(from) || !isIccid(to)) return undefined;
  const first = from.slice(0, -1);
  const size = Number(BigInt(to.slice(0, -1)) - BigInt(first)) + 1;
  return size >= 1 && Number.isSafeInteger(size) ? { first, size } : undefined;
}

/** A number that lies in two ranges would be given out twice. */
function overlap(ranges: IccidRange[]): boolean {
  const sorted = ranges
    .map(({ first, size }) => ({ from: BigInt(first), to: BigInt(first) + BigInt(size) }))
    .sort((a, b) => (a.from < b.from ? -1 : 1));
  return sorted.some(({ to }, index) => to > (sorted[index + 1]?.from ?? to));
}
