import type { CheckName } from '../checks/index.ts';
import type { Topology } from '../deployment/postgres.ts';
import type { Fault, Operation, OperationKind } from '../plan.ts';

/** One guarantee broken on purpose, from outside: by a trigger in the run's own database, or in a process's own memory. */
export type Break = {
  what: string;
  /** The checks that must find it, and no other may. */
  caughtBy: CheckName[];
  /** What each account does. */
  operations: Operation[];
  /** Run on the database before any server starts. */
  sql?: string;
  /** A module of `preload/`, loaded first by every process. */
  preload?: string;
  /** One that does everything, unless it takes two. */
  processes?: string[];
  faults?: Fault[];
  topology?: Topology;
  /** The standby gets nothing, and nobody waits for it. */
  isAsynchronous?: boolean;
  /** How long work lies still before it counts as stuck; only who breaks that wants to see it soon. */
  stalledAfterMs?: number;
};

const act = (kind: OperationKind, own: Partial<Operation> = {}): Operation => ({
  ...{ kind, pick: 0.3, choice: 0.1, repeat: 'no', isImpatient: false },
  ...own,
});

const order = [act('create-endpoint'), act('provision'), act('provision'), act('await-orders'), act('look')];

/** Every guarantee has a switch that breaks it; without one of them the checker could be blind and nobody would know. */
export const breaks: Record<string, Break> = {
  'stick-row': {
    what: 'a recovery never ends',
    caughtBy: ['nothing-is-stuck'],
    operations: [act('create-endpoint'), act('test-event')],
    stalledAfterMs: 10_000,
    sql: trigger('recoveries', 'before update', { body: 'new.finished_at := null; return new;' }),
  },
  'drop-event': {
    what: 'some events are not written, and nothing is queued for them',
    caughtBy: ['changes-are-told'],
    operations: [...order, ...Array.from({ length: 8 }, () => act('test-event'))],
    sql: `${dropSome('events', 'new.id')} ${dropSome('deliveries', 'new.event_id')}`,
  },
  'lose-delivery': {
    what: 'some events are written, and nothing is queued for them',
    caughtBy: ['events-are-delivered'],
    operations: [...order, ...Array.from({ length: 8 }, () => act('test-event'))],
    sql: dropSome('deliveries', "case when new.origin = 'event' then new.event_id end"),
  },
  'claim-success': {
    what: 'a delivery that failed counts as succeeded',
    caughtBy: ['events-are-delivered'],
    operations: [
      act('create-endpoint'),
      act('create-endpoint', { choice: 0.9, pick: 0 }),
      act('test-event'),
      act('await-deliveries'),
    ],
    sql: trigger('deliveries', 'before update', {
      body: `if new.status = 'pending' and new.attempt_count > old.attempt_count then new.status := 'succeeded'; end if; return new;`,
    }),
  },
  'double-order': {
    what: 'a worker asks the network twice for one order, with another call id',
    caughtBy: ['orders-reach-the-network-once'],
    operations: order,
    preload: 'double-order',
  },
  'skip-fence': {
    what: 'a worker writes what another has taken over',
    caughtBy: ['orders-end-once', 'orders-reach-the-network-once', 'changes-are-told'],
    operations: order,
    preload: 'skip-fence',
    processes: ['all-1', 'all-2'],
    faults: [{ kind: 'overtake', process: '', after: 0, lasts: 0, step: 'confirm' }],
  },
  'forget-key': {
    what: 'an idempotency key is forgotten as soon as it is stored',
    caughtBy: ['keys-run-once'],
    operations: [act('create-endpoint'), act('provision', { repeat: 'elsewhere' }), act('await-orders')],
    sql: trigger('idempotency_keys', 'after insert', {
      body: 'delete from idempotency_keys where account_id = new.account_id and key = new.key; return null;',
    }),
  },
  'cross-account': {
    what: 'the API finds executions of any account',
    caughtBy: ['nothing-crosses-accounts'],
    operations: order,
    preload: 'cross-account',
  },
  'wrong-signature': {
    what: 'a worker signs with another key',
    caughtBy: ['deliveries-are-signed'],
    operations: [act('create-endpoint'), act('test-event')],
    preload: 'wrong-signature',
  },
  'change-body': {
    what: 'a worker sends other bytes than the log has',
    caughtBy: ['log-matches-deliveries'],
    operations: [act('create-endpoint'), act('test-event')],
    preload: 'change-body',
  },
  'count-twice': {
    what: 'a usage record that is reported twice is counted twice',
    caughtBy: ['usage-is-counted-once'],
    operations: [...order, act('use-data', { choice: 0.6 })],
    sql: trigger('usage_records', 'before insert', {
      body: 'new.record_id := gen_random_uuid()::text; return new;',
    }),
  },
  'skip-page': {
    what: 'lists of executions lose some after their first page',
    caughtBy: ['walks-are-complete'],
    operations: [...Array.from({ length: 24 }, () => act('provision')), act('await-orders')],
    preload: 'skip-page',
  },
  'break-list': {
    what: 'the API has a fault of its own and answers 500',
    caughtBy: ['answers-are-expected'],
    operations: order,
    preload: 'break-list',
  },
  'skip-standby': {
    what: 'orders are acknowledged before the standby has them, and it takes over',
    caughtBy: ['orders-end-once', 'orders-reach-the-network-once'],
    operations: [
      ...[act('provision'), act('provision'), act('await-orders')],
      ...Array.from({ length: 12 }, () => act('provision')),
    ],
    topology: 'pair',
    isAsynchronous: true,
    faults: [{ kind: 'fail-over', process: '', after: 6, lasts: 0, step: '' }],
  },
  'fall-over': {
    what: 'a worker ends by itself',
    caughtBy: ['processes-survive'],
    operations: [act('create-endpoint')],
    preload: 'fall-over',
    processes: ['all-1', 'all-2'],
  },
};

/** Which ones is decided by the event's id, so that an event and its deliveries share their fate. */
function dropSome(table: string, eventId: string): string {
  const body = `if right((${eventId})::text, 1) < 'a' then return null; end if; return new;`;
  return trigger(table, 'before insert', { body });
}

function trigger(table: string, when: string, { body }: { body: string }): string {
  return `
    create function break_${table}() returns trigger language plpgsql as $$ begin ${body} end $$;
    create trigger break_${table} ${when} on ${table} for each row execute function break_${table}();`;
}
