/** The event id in a delivered body; empty if it is not an event. */
export function eventIdOf(body: string): string {
  try {
    const { id } = JSON.parse(body) as { id?: unknown };
    return typeof id === 'string' ? id : '';
  } catch {
    return '';
  }
}
