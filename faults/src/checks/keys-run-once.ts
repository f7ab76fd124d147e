import type { Batch, Delivery, Event, Execution, WebhookEndpoint } from '@simplane/contract';
import type { History } from '../history/history.ts';
import { bodyOf, type Write, writesOf } from '../history/writes.ts';
import type { Violation } from './violation.ts';

/** A key has one answer, byte for byte, and its operation one effect, however often and to whichever process it is sent. */
export function keysRunOnce(history: History): Violation[] {
  const writes = writesOf(history);
  return [
    ...writes.flatMap(answersAreOne),
    ...effectsHaveAnswers(history, writes),
    ...replaysAreCounted(history, writes),
  ];
}

function answersAreOne({ key, answers }: Write): Violation[] {
  const distinct = new Set(answers.map(({ status, text }) => `${status} ${text}`));
  const ran = answers.filter(({ isReplayed }) => !isReplayed);
  if (distinct.size > 1) return [{ about: [key], what: `one key has ${distinct.size} different answers` }];
  return ran.length > 1 ? [{ about: [key], what: `an operation ran ${ran.length} times with one key` }] : [];
}

/** Clients retry until they get an answer, so a resource that no answer names was created by a duplicate run. */
function effectsHaveAnswers({ end }: History, writes: Write[]): Violation[] {
  const hasGroupRetries = writes.some(({ path }) => path.startsWith('/v1/operator/failure_groups/'));
  return end.flatMap(({ executions, batches, endpoints, events }, account) => {
    const answered = new Set(
      writes
        .filter((write) => write.account === account && write.status !== null && write.status < 300)
        .flatMap(({ answers }) =>
          answers.map((answer) => bodyOf<{ id?: string; retried_by?: string }>(answer)),
        )
        .flatMap(({ id, retried_by }) => [id, retried_by]),
    );
    const created: (Execution | Batch | WebhookEndpoint | Event)[] = [
      // Their answer names the first one of a group, or the batch.
      ...executions.filter((one) => !(hasGroupRetries && one.retry_of) && (!one.batch_id || one.retry_of)),
      ...batches,
      ...endpoints,
      ...events.filter(({ type }) => type.startsWith('test.') || type === 'esim.made_up'),
    ];
    return created
      .filter(({ id }) => !answered.has(id))
      .map(({ id, object }) => ({ about: [id], what: `an ${object} exists that no answer named` }));
  });
}

function replaysAreCounted({ deliveries }: History, writes: Write[]): Violation[] {
  return deliveries.flatMap((all, account) => {
    const answered = new Set(
      writes
        .filter(
          (write) => write.account === account && write.path.endsWith('/replay') && write.status === 202,
        )
        .flatMap((write) => bodyOf<{ deliveries: Delivery[] }>(write).deliveries.map(({ id }) => id)),
    );
    return all
      .filter(({ id, origin }) => origin === 'replay' && !answered.has(id))
      .map(({ id, event_id }) => ({ about: [id, event_id], what: 'a replay exists that no answer named' }));
  });
}
