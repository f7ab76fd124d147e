/** The beginning of a text that came from outside, for a message. Cut between code points: half a pair is not JSON. */
export function clip(text: string, length = 60): string {
  if (text.length <= length) return text;
  const points = [...text.slice(0, length * 2 + 2)];
  return points.length > length ? `${points.slice(0, length).join('')}…` : text;
}
