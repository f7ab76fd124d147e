const [black, white] = ['#000000', '#ffffff'];

/**
 * Black or white, whichever has the higher contrast to this color. For every color that is at least 4.58, the square root of the contrast
 * between black and white, so WCAG 2.2 §1.4.3 (4.5) holds for any choice.
 */
export function textColorOn(color: string): string {
  return contrast(color, white) >= contrast(color, black) ? white : black;
}

/** WCAG 2.2: from 1 (the same color) to 21 (black and white). */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
