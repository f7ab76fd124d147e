/** The known name that a text is probably meant to be; null if none is close, or if it is one. */
export function nearest(text: string, names: readonly string[]): string | null {
  if (names.includes(text)) return null;
  const limit = Math.max(2, Math.floor(text.length / 4));
  let [best, least]: [string | null, number] = [null, limit + 1];
  for (const name of names) {
    const distance = edits(text, name);
    if (distance < least) [best, least] = [name, distance];
  }
  return best;
}

/** How many characters must be added, removed or replaced. */
function edits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
