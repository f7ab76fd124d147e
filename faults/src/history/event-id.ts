/** The id that a delivered body names; an empty text when it is no event at all. */
export function eventIdOf(body: string): string {
  try {
    const { id } = JSON.parse(body) as { id?: unknown };
    return typeof id === 'string' ? id : '';
  } catch {
    return '';
  }
}
