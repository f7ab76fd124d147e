/** The API's words are for the account, which asks its operator. To the operator itself that part says nothing. */
export function forOperator(message: string): string {
  const parts = message.split(/(?<=[.;])\s+/).filter((part) => !/\boperator\b/i.test(part));
  return parts.length === 0 ? message : parts.join(' ').replace(/;$/, '.');
}
