/** Truncates external text for a message. Cuts between code points, because an unpaired surrogate is not valid JSON. */
export function clip(text: string, length = 60): string {
  if (text.length <= length) return text;
  const points = [...text.slice(0, length * 2 + 2)];
  return points.length > length ? `${points.slice(0, length).join('')}…` : text;
}
