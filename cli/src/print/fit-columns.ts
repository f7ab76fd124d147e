export type Fittable = {
  /** Smallest width to which cells may be cut. Columns without it, such as ids, are shown whole or not at all. */
  cutTo?: number;
  /** Hidden before the other columns if the table is too wide. */
  isSecondary?: boolean;
};

const gap = 2;

/** The width of every column; null for those that are hidden so that the table fits. The first is never hidden. */
export function fitColumns(
  columns: readonly Fittable[],
  natural: readonly number[],
  available: number,
): (number | null)[] {
  const widths: (number | null)[] = [...natural];
  const smallest = (index: number) => Math.min(natural[index] ?? 0, columns[index]?.cutTo ?? Infinity);
  for (const index of hidingOrder(columns)) {
    if (totalOf(widths.map((width, at) => width && smallest(at))) <= available) break;
    widths[index] = null;
  }
  // The widest column gives way first, so that several long ones end up equally wide.
  while (totalOf(widths) > available) {
    const index = widestOf(
      widths.map((width, at) => (width !== null && width > smallest(at) ? width : null)),
    );
    if (index === -1) break;
    widths[index] = (widths[index] ?? 0) - 1;
  }
  return widths;
}

/** Secondary columns first, each group from the right. */
function hidingOrder(columns: readonly Fittable[]): number[] {
  const indexes = columns
    .map((_, index) => index)
    .slice(1)
    .reverse();
  const isSecondary = (index: number) => columns[index]?.isSecondary === true;
  return [...indexes.filter(isSecondary), ...indexes.filter((index) => !isSecondary(index))];
}

function totalOf(widths: readonly (number | null)[]): number {
  const shown = widths.filter((width) => width !== null);
  return shown.reduce((sum, width) => sum + width, 0) + gap * (shown.length - 1);
}

function widestOf(widths: readonly (number | null)[]): number {
  const widest = Math.max(...widths.map((width) => width ?? -1));
  return widest === -1 ? -1 : widths.indexOf(widest);
}
