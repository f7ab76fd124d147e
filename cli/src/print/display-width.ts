// Ranges that terminals draw two cells wide: CJK, Hangul, full-width forms and emoji.
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const zeroWidth = /[\p{Mn}\p{Me}\u200b-\u200d\u2060]/u;

/** The number of terminal cells that a text takes. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const letter of text) width += cellsOf(letter);
  return width;
}

/** Cuts a text to at most `width` cells; `…` marks the cut. */
export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  let used = 1; // the ellipsis
  for (const letter of text) {
    used += cellsOf(letter);
    if (used > width) break;
    kept += letter;
  }
  return `${kept.trimEnd()}…`;
}

function cellsOf(letter: string): number {
  if (zeroWidth.test(letter)) return 0;
  return wide.test(letter) ? 2 : 1;
}
