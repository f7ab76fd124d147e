/** Every subscription that an event of this type satisfies: all, its own name, and each family that it is in. */
export function subscriptionsOf(type: string): string[] {
  const parts = type.split('.');
  const families = parts.slice(0, -1).map((_, index) => `${parts.slice(0, index + 1).join('.')}.*`);
  return ['*', type, ...families];
}
