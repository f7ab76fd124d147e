import { isIccid } from '@simplane/contract';

/** A range of ICCIDs the operator may assign: `first` has no check digit; `size` is how many follow, including `first`. */
export type IccidRange = { first: string; size: number };

const lengthWithoutCheck = 18;

/**
 * Parses comma-separated ranges. Each is `from-to` with two full ICCIDs, or a prefix: the issuer's digits (ITU-T E.118)
 * and any further digits the operator reserved. Returns undefined if the text is invalid.
 */
export function parseIccidRanges(text: string): IccidRange[] | undefined {
  const ranges = text.split(',').map((part) => parseRange(part.trim()));
  if (!ranges.every((range) => range !== undefined)) return undefined;
  return overlap(ranges) ? undefined : ranges;
}

function parseRange(text: string): IccidRange | undefined {
  // Leaves at least three digits for the serial number.
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

/** An ICCID in two ranges would be assigned twice. */
function overlap(ranges: IccidRange[]): boolean {
  const sorted = ranges
    .map(({ first, size }) => ({ from: BigInt(first), to: BigInt(first) + BigInt(size) }))
    .sort((a, b) => (a.from < b.from ? -1 : 1));
  return sorted.some(({ to }, index) => to > (sorted[index + 1]?.from ?? to));
}
