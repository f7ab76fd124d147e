import { encode } from 'uqr';
import type { Colors } from './output.ts';

/** Draws a QR code in half blocks. Without color it draws the light modules, which is right on a dark terminal. */
export function drawQr(text: string, colors: Colors, { isInverted }: { isInverted: boolean }): string[] {
  const { data, size } = encode(text, { ecc: 'M', border: 4 });
  const isInk = (row: number, column: number) => {
    const isDark = data[row]?.[column] ?? false;
    // With color we draw on a white background; without it the dark terminal background stands for the dark modules.
    return colors.isColorSupported || isInverted ? isDark : !isDark;
  };
  const lines: string[] = [];
  for (let row = 0; row < size; row += 2) {
    const cells = Array.from({ length: size }, (_, column) => {
      const lower = row + 1 < size && isInk(row + 1, column);
      return block(isInk(row, column), lower);
    });
    const line = cells.join('');
    lines.push(colors.isColorSupported ? colors.bgWhiteBright(colors.black(line)) : line);
  }
  return lines;
}

function block(isUpper: boolean, isLower: boolean): string {
  if (isUpper) return isLower ? '█' : '▀';
  return isLower ? '▄' : ' ';
}
