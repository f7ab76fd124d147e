/**
 * The ICCID in an event's `data`, or null. The data of a test event can be anything, so only a string of an ICCID's digits counts:
 * longer text would not fit into an index.
 */
export function iccidOfBody(body: string): string {
  return `substring((${body}::json -> 'data' -> 'iccid')::text from '^"([0-9]{18,20})"$')`;
}
