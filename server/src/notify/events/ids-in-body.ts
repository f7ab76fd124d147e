/**
 * SQL: the ICCID that an event's data starts with, as `events_by_iccid` stores it. The index is used only for this expression. The text
 * may be the start of longer text in a test event, so compare `iccidOf` as well.
 */
export const indexedIccid = `(left(split_part(split_part(body, '"data":{"iccid":"', 2), '"', 1), 20) collate "C")`;

/** SQL: the execution of a failed order's event, as `events_of_failed_orders` stores it. */
export const indexedFailedOrder = `(left(split_part(split_part(body, '"execution_id":"', 2), '"', 1), 31) collate "C")`;

/** SQL: the reference in an event's data as `events_by_reference` stores it: its JSON, up to the first quotation mark. */
export const indexedReference = `(left(split_part(split_part(body, '"reference":"', 2), '"', 1), 200) collate "C")`;

/** SQL: what that partial index requires. */
export const hasReference = `strpos(body, '"reference":"') > 0`;

/** A reference as that index stores it. */
export function referenceKey(reference: string): string {
  return JSON.stringify(reference).slice(1).split('"')[0] as string;
}

/** SQL: a field of the event's data, exactly. Reads JSON, so use it for the few rows that an index found. */
export const dataField = (name: 'iccid' | 'execution_id' | 'reference') => `body::json #>> '{data,${name}}'`;

/**
 * The ICCID in an event's `data`, or null. The data of a test event can be anything, so only a string of an ICCID's digits counts:
 * longer text would not fit into an index.
 */
export function iccidOfBody(body: string): string {
  return `substring((${body}::json -> 'data' -> 'iccid')::text from '^"([0-9]{18,20})"$')`;
}
