import { type Break, breaks } from '../dist/breaks/breaks.js';

/**
 * Breaks that one deployment has at once: to start one and to read it to its end takes three seconds of a core. Those of a line break
 * different tables and leave alone what the others need, and no check is of two of them, so each must be reported for itself. Together
 * they are as few as report all checks.
 */
export const brokenTogether = [
  ['keep-open', 'lose-ended', 'revive-key'],
  ['drain-foreign-bundle', 'lose-state', 'double-order'],
  ['change-body', 'wrong-signature', 'skip-for-operator'],
  ['drop-event', 'change-state', 'cross-account'],
  ['lose-delivery', 'keep-erased-value', 'miscount-batch', 'tell-old-version', 'fall-over'],
  ['break-ranks', 'skip-audit'],
  ['steal-lease', 'break-list', 'halve-batch'],
  ['forget-retry'],
  // All its usage must be of one eSIM, and it takes the newest that it knows of.
  ['repeat-threshold'],
  // Whatever a busy machine makes a client repeat happens twice, so it has few requests.
  ['forget-key'],
  // It drops an event and not its deliveries, so nobody may have an endpoint.
  ['finish-batch-silently'],
];

/** A break that is all of these. Faults would wait for the operations of the others, so none has any but one that is alone. */
export function joinBreaks(names: readonly string[]): Break {
  const joined = names.map((name) => breaks[name] as Break);
  const processes = joined.find((one) => one.processes)?.processes;
  const sql = joined.flatMap((one) => one.sql ?? []);
  return {
    ...Object.assign({}, ...joined),
    description: joined.map(({ description }) => description).join('; '),
    caughtBy: joined.flatMap(({ caughtBy }) => caughtBy),
    operations: joined.flatMap(({ operations }) => operations),
    preloads: joined.flatMap(({ preloads = [] }) => preloads),
    ...(processes && { processes }),
    ...(sql.length > 0 && { sql: sql.join(';') }),
  };
}
