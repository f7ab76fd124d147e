/** Every subscription that matches this event type: `*`, the type itself and each of its families. */
export function subscriptionsOf(type: string): string[] {
  const parts = type.split('.');
  const families = parts.slice(0, -1).map((_, index) => `${parts.slice(0, index + 1).join('.')}.*`);
  return ['*', type, ...families];
}
