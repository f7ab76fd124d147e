/** The word that was probably meant; null when none is near. */
export function nearest(word: string, known: readonly string[]): string | null {
  const [best] = known
    .map((candidate) => ({ candidate, away: distance(word, candidate) }))
    .sort((one, other) => one.away - other.away);
  return best && best.away <= Math.max(2, word.length / 4) ? best.candidate : null;
}

/** How many letters must be added, dropped or changed. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (let at = 1; at <= other.length; at++) {
      const change = (row[at - 1] ?? 0) + (letter === other[at - 1] ? 0 : 1);
      next.push(Math.min(change, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
