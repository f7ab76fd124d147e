import type { Event, Execution } from '@simplane/contract';
import type { AccountEnd, History } from '../history/history.ts';
import { bodyOf, writesOf } from '../history/writes.ts';
import type { Violation } from './violation.ts';

const eventTypes: Partial<Record<Execution['type'], { succeeded: string; failed?: string }>> = {
  'esim.provision': { succeeded: 'esim.provisioned', failed: 'esim.provisioning_failed' },
  'esim.suspend': { succeeded: 'esim.suspended' },
  'esim.resume': { succeeded: 'esim.resumed' },
  'esim.terminate': { succeeded: 'esim.terminated' },
};

/** The event log has every order's end, every test event and every first attach exactly once. */
export function changesAreTold(history: History): Violation[] {
  return [
    ...history.end.flatMap(endsAreLogged),
    ...testEventsAreLogged(history),
    ...activationsAreLogged(history),
  ];
}

function endsAreLogged({ executions, events }: AccountEnd): Violation[] {
  const byExecution = new Map<string, Event[]>();
  for (const event of events) {
    const id = String(event.data['execution_id'] ?? '');
    byExecution.set(id, [...(byExecution.get(id) ?? []), event]);
  }
  return executions.flatMap(({ id, type, status }) => {
    const names = eventTypes[type];
    if (!names || (status !== 'succeeded' && status !== 'failed')) return [];
    const expected = names[status];
    const ends = Object.values(names);
    const found = (byExecution.get(id) ?? []).filter((event) => ends.includes(event.type));
    const isRight = expected ? found.length === 1 && found[0]?.type === expected : found.length === 0;
    if (isRight) return [];
    const seen = found.map((event) => event.type).join(', ') || 'nothing';
    return [{ about: [id], what: `${type} ${status}, but the log has ${seen}` }];
  });
}

function testEventsAreLogged(history: History): Violation[] {
  return writesOf(history).flatMap((write) => {
    if (write.path !== '/v1/events/test' || write.status !== 202) return [];
    const { id } = bodyOf<Event>(write);
    const count = history.end[write.account]?.events.filter((event) => event.id === id).length ?? 0;
    return count === 1
      ? []
      : [{ about: [id, write.key], what: `an accepted event is in the log ${count} times` }];
  });
}

function activationsAreLogged(history: History): Violation[] {
  const attached = new Set<string>();
  for (const { path, status, text } of writesOf(history)) {
    const [, iccid] = /^\/v1\/sandbox\/esims\/(\d+)\/simulate$/.exec(path) ?? [];
    if (iccid && status === 200 && /"status":"active"/.test(text)) attached.add(iccid);
  }
  const events = history.end.flatMap((end) => end.events);
  return [...attached].flatMap((iccid) => {
    const found = events.filter(({ type, data }) => type === 'esim.activated' && data['iccid'] === iccid);
    return found.length === 1
      ? []
      : [{ about: [iccid], what: `a first attach is logged ${found.length} times` }];
  });
}
