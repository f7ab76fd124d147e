import type { CheckName } from '../checks/index.ts';
import type { Topology } from '../deployment/postgres.ts';
import type { Fault, NetworkKind, Operation, OperationKind } from '../plan.ts';
import { letTestEventsPass } from './let-test-events-pass.ts';

/** One guarantee broken on purpose, by a trigger in the run's database or by a module preloaded into a server. */
export type Break = {
  description: string;
  /** Exactly these checks must report it. */
  caughtBy: CheckName[];
  /** The operations of each account's customer. */
  operations: Operation[];
  /** Run on the database before any server starts. */
  sql?: string;
  /** Modules of `preload/`, loaded first by every process. */
  preloads?: string[];
  /** By default one process with both roles. */
  processes?: string[];
  faults?: Fault[];
  topology?: Topology;
  network?: NetworkKind;
  /** Replication is stopped, and commits do not wait for the standby. */
  isAsynchronous?: boolean;
  /** How long work makes no progress before it counts as stuck. */
  stalledAfterMs?: number;
};

const act = (kind: OperationKind, own: Partial<Operation> = {}): Operation => ({
  ...{ kind, pick: 0.3, choice: 0.1, repeat: 'no', hangsUp: false },
  ...own,
});

const order = [act('create-endpoint'), act('provision'), act('provision'), act('await-orders'), act('look')];

const races = 4;

/** Each check has a break that proves it can fail. */
export const breaks: Record<string, Break> = {
  'stick-row': {
    description: 'a recovery never ends',
    caughtBy: ['nothing-is-stuck'],
    operations: [act('create-endpoint'), act('test-event')],
    stalledAfterMs: 10_000,
    sql: trigger('recoveries', 'before update', { body: 'new.finished_at := null; return new;' }),
  },
  'forget-retry': {
    description:
      'refused orders count as unknown, and a failed order forgets which one was started in its place',
    caughtBy: ['unknown-outcomes-are-settled'],
    network: 'forgets',
    operations: [
      act('create-endpoint'),
      ...Array.from({ length: 4 }, () => act('provision', { choice: 0.9, pick: 0 })),
      act('await-orders'),
    ],
    sql: trigger('executions', 'before insert or update', {
      body: `
        if new.error ->> 'code' = 'declined' then
          new.error := jsonb_set(new.error, '{code}', '"outcome_unknown"');
        end if;
        new.retried_by := null;
        return new;`,
    }),
  },
  'drop-event': {
    description: 'some events are neither stored nor queued for delivery',
    caughtBy: ['changes-are-told'],
    operations: [...order, ...Array.from({ length: 8 }, () => act('test-event'))],
    sql: `${dropSome('events', 'new.id')} ${dropSome('delivery_queue', 'new.event_id')}`,
  },
  'lose-delivery': {
    description: 'some events are stored but not queued for delivery',
    caughtBy: ['events-are-delivered'],
    operations: [...order, ...Array.from({ length: 8 }, () => act('test-event'))],
    sql: dropSome('delivery_queue', "case when new.origin = 'event' then new.event_id end"),
  },
  'claim-success': {
    description: 'a failed delivery is stored as succeeded',
    caughtBy: ['events-are-delivered'],
    operations: [
      act('create-endpoint'),
      act('create-endpoint', { choice: 0.9, pick: 0 }),
      act('test-event'),
      act('await-deliveries'),
    ],
    sql: trigger('delivery_queue', 'after update', {
      body: `
        if new.attempt_count > old.attempt_count then
          delete from delivery_queue where account_id = new.account_id and id = new.id;
          insert into deliveries (account_id, id, event_id, endpoint_id, status, origin, attempt_count, created_at, finished_at)
          values (new.account_id, new.id, new.event_id, new.endpoint_id, 'succeeded', new.origin, new.attempt_count, new.created_at, now());
        end if;
        return null;`,
    }),
  },
  'keep-in-queue': {
    description: 'a delivery that has ended stays in the queue',
    caughtBy: ['items-are-in-one-place', 'nothing-is-stuck'],
    operations: [act('create-endpoint'), act('test-event')],
    stalledAfterMs: 10_000,
    sql: trigger('delivery_queue', 'after delete', {
      body: 'insert into delivery_queue select (old).*; return null;',
    }),
  },
  'lose-ended': {
    description: 'a delivery leaves the history when it has been seen there',
    caughtBy: ['items-are-in-one-place'],
    operations: [act('create-endpoint'), act('test-event')],
    sql: trigger('recoveries', 'after insert', {
      body: `delete from deliveries where account_id = new.account_id and endpoint_id = new.endpoint_id; return null;`,
    }),
  },
  'early-positions': {
    description: 'positions in the feed follow the ids of events, which are drawn before the commit',
    caughtBy: ['feed-is-gap-free'],
    operations: [
      ...Array.from({ length: 4 }, () => act('provision')),
      ...Array.from({ length: 16 }, () => act('test-event')),
      act('await-orders'),
    ],
    stalledAfterMs: 10_000,
    sql: `${letTestEventsPass}; ${trigger('event_feed', 'after insert', {
      body: `
        update event_feed run
        set event_ids = (sorted.ids)[run.first_position::int : run.first_position::int + cardinality(run.event_ids) - 1]
        from (
          select array_agg(id order by id) as ids
          from event_feed other, unnest(other.event_ids) as id
          where other.account_id = new.account_id) sorted
        where run.account_id = new.account_id;
        return null;`,
    })}`,
  },
  'skip-for-operator': {
    description: 'some events get no position in the operator’s feed',
    caughtBy: ['operator-feed-is-whole'],
    operations: order,
    sql: trigger('event_feed', 'before insert', {
      body: `
        if new.account_id = '00000000-0000-0000-0000-000000000000' and new.first_position > 3 then return null; end if;
        return new;`,
    }),
  },
  'break-ranks': {
    description: 'deliveries to an ordered endpoint do not wait for each other',
    caughtBy: ['ordered-deliveries-start-in-order'],
    operations: [
      act('create-endpoint', { pick: 0.35 }),
      ...[act('provision'), act('await-orders')],
      ...[act('suspend'), act('await-orders'), act('resume'), act('await-orders')],
    ],
    // Queued as retries. A suspension is due when the resumption after it has been delivered.
    sql: `${trigger('blocked_deliveries', 'after insert', {
      body: `
        delete from blocked_deliveries where account_id = new.account_id and id = new.id;
        insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at, attempt_count, due_at)
        select new.account_id, new.id, new.event_id, new.endpoint_id, new.origin, new.created_at, 1,
          case type when 'esim.suspended' then '2999-01-01' else now() end
        from events
        where account_id = new.account_id and id = new.event_id;
        return null;`,
    })}
    ${trigger('deliveries', 'after insert', {
      body: `
        update delivery_queue
        set due_at = now()
        from events
        where events.account_id = new.account_id and events.id = new.event_id and events.type = 'esim.resumed'
          and delivery_queue.account_id = new.account_id;
        return null;`,
    })}`,
  },
  'steal-lease': {
    description: 'a sender takes endpoints that another one holds',
    caughtBy: ['endpoints-have-one-sender'],
    operations: [
      act('create-endpoint'),
      ...Array.from({ length: 12 }, () => act('test-event')),
      act('await-deliveries'),
      ...Array.from({ length: 12 }, () => act('test-event')),
    ],
    preloads: ['steal-lease'],
    processes: ['all-1', 'all-2'],
  },
  'double-order': {
    description: 'a worker sends each order to the network twice, with different call ids',
    caughtBy: ['orders-reach-the-network-once'],
    operations: order,
    preloads: ['double-order'],
  },
  'skip-fence': {
    description: 'a worker writes to work that another worker has taken over',
    caughtBy: ['orders-reach-the-network-once'],
    // Several races: on a busy machine the refusal may miss its timeout, and that race does no harm.
    operations: Array.from({ length: races }, () => order).flat(),
    preloads: ['skip-fence'],
    processes: ['all-1', 'all-2'],
    faults: Array.from({ length: races }, (_, n) => ({
      ...{ kind: 'race-heir', process: '', after: n * order.length, lasts: 0, step: 'confirm', jumpMs: 0 },
    })),
  },
  'keep-open': {
    description: 'orders stay in the queue after they have ended',
    caughtBy: ['orders-are-in-one-place', 'orders-end-once', 'walks-are-complete', 'nothing-is-stuck'],
    // They never look settled, so nobody waits for them.
    operations: order.filter(({ kind }) => kind !== 'await-orders'),
    stalledAfterMs: 10_000,
    sql: trigger('execution_queue', 'after delete', {
      body: `old.due_at := '2999-01-01'; old.leased_until := null; insert into execution_queue select old.*; return null;`,
    }),
  },
  'lose-order': {
    description: 'orders are in no table after they have ended',
    caughtBy: ['orders-are-in-one-place', 'orders-end-once', 'orders-reach-the-network-once'],
    operations: order,
    sql: trigger('executions', 'before insert', { body: 'return null;' }),
  },
  'halve-batch': {
    description: 'only the first order of a batch is stored',
    caughtBy: ['batches-are-whole'],
    operations: [act('create-endpoint'), act('order-batch', { choice: 0.9 }), act('await-orders')],
    // The batch itself is made smaller too, so that it adds up: only its answer tells.
    sql: `${trigger('execution_queue', 'before insert', {
      body: `
        if exists (select from execution_queue where input ->> 'batch_id' = new.input ->> 'batch_id') then return null; end if;
        return new;`,
    })}
    ${trigger('executions', 'after insert', {
      body: `
        update batches
        set total = (select count(*) from executions where input ->> 'batch_id' = new.input ->> 'batch_id')
          + (select count(*) from execution_queue where input ->> 'batch_id' = new.input ->> 'batch_id')
        where id::text = new.input ->> 'batch_id';
        return null;`,
    })}`,
  },
  'miscount-batch': {
    description: 'a batch has another total than it has orders',
    caughtBy: ['batches-add-up'],
    operations: [act('create-endpoint'), act('order-batch'), act('look-batch'), act('await-orders')],
    sql: trigger('batches', 'before insert', { body: 'new.total := new.total + 1; return new;' }),
  },
  'finish-batch-silently': {
    description: 'the end of a batch is not told',
    caughtBy: ['batches-finish-once'],
    operations: [act('order-batch'), act('await-orders')],
    sql: trigger('events', 'before insert', {
      body: `if new.type = 'batch.finished' then return null; end if; return new;`,
    }),
  },
  'keep-erased-value': {
    description: 'erasing an eSIM leaves its description',
    caughtBy: ['erased-values-are-gone'],
    operations: [act('create-endpoint'), act('erase-esim'), act('await-orders')],
    sql: trigger('esims', 'before update', {
      body: `if new.erased_at is not null then new.description := old.description; end if; return new;`,
    }),
  },
  'forget-key': {
    description: 'an idempotency key is deleted as soon as it is stored',
    caughtBy: ['keys-run-once'],
    operations: [act('create-endpoint'), act('provision', { repeat: 'elsewhere' }), act('await-orders')],
    sql: trigger('idempotency_keys', 'after insert', {
      body: 'delete from idempotency_keys where account_id = new.account_id and key = new.key; return null;',
    }),
  },
  'cross-account': {
    description: 'the API returns executions of any account',
    caughtBy: ['nothing-crosses-accounts'],
    operations: order,
    preloads: ['cross-account'],
  },
  'wrong-signature': {
    description: 'a worker signs with the wrong key',
    caughtBy: ['deliveries-are-signed'],
    operations: [act('create-endpoint'), act('test-event')],
    preloads: ['wrong-signature'],
  },
  'change-body': {
    description: 'workers and the feed send different bytes than the event log has',
    caughtBy: ['log-matches-deliveries', 'feed-is-gap-free'],
    operations: [act('create-endpoint'), act('test-event')],
    preloads: ['change-body'],
  },
  'count-twice': {
    description: 'a usage record reported twice is counted twice',
    caughtBy: ['usage-is-counted-once'],
    operations: [...order, act('use-data', { choice: 0.6 })],
    sql: trigger('usage_records', 'before insert', {
      body: 'new.record_id := gen_random_uuid()::text; return new;',
    }),
  },
  'skip-audit': {
    description: 'some writes have no entry in the audit log',
    caughtBy: ['writes-are-audited'],
    operations: [act('create-endpoint'), ...Array.from({ length: 12 }, () => act('test-event'))],
    sql: dropSome('audit_log', 'new.id'),
  },
  'revive-key': {
    description: 'a revoked key works again',
    caughtBy: ['ended-credentials-are-refused'],
    operations: [act('create-endpoint'), act('revoke-key')],
    sql: trigger('api_keys', 'after update', {
      body: `
        if new.revoked_at is not null then update api_keys set revoked_at = null where id = new.id; end if;
        return null;`,
    }),
  },
  'revive-session': {
    description: 'a session that was ended works again',
    caughtBy: ['ended-credentials-are-refused'],
    operations: [act('create-endpoint'), act('sign-out')],
    sql: trigger('dashboard_sessions', 'after delete', {
      body: 'insert into dashboard_sessions select (old).*; return null;',
    }),
  },
  'lose-uncovered': {
    description: 'usage that no bundle covers is not counted on the eSIM',
    caughtBy: ['usage-adds-up', 'usage-is-counted-once'],
    operations: [...order, act('attach'), act('use-data', { choice: 0.6 })],
    sql: trigger('esims', 'before update', { body: 'new.uncovered_bytes := 0; return new;' }),
  },
  'drain-foreign-bundle': {
    description: 'usage counts on a bundle that does not cover its country',
    caughtBy: ['no-byte-on-a-foreign-bundle'],
    operations: [...order, act('use-data', { choice: 0.6 })],
    sql: trigger('usage_records', 'before insert', { body: `new.country := 'AQ'; return new;` }),
  },
  'repeat-threshold': {
    description: 'usage starts from zero with each record, so that a threshold is reached again',
    caughtBy: ['each-threshold-once', 'usage-adds-up', 'usage-is-counted-once'],
    operations: [...order, ...Array.from({ length: 4 }, () => act('use-data', { choice: 0.99 }))],
    sql: trigger('bundles', 'before update', {
      body: 'new.used_bytes := 0; new.data_bytes := 600000000; return new;',
    }),
  },
  'lose-state': {
    description: 'the core never gets another state of an eSIM than the first',
    caughtBy: ['core-converges'],
    operations: [...order, act('attach')],
    sql: trigger('core_queue', 'before insert', {
      body: 'if new.version > 1 then return null; end if; return new;',
    }),
  },
  'change-state': {
    description: 'a version is sent again with another body',
    caughtBy: ['one-body-per-version'],
    operations: order,
    sql: trigger('core_queue', 'after delete', {
      body: `
        if old.service ->> 'until' is distinct from '1' then
          old.service := old.service || '{"until": 1}';
          old.leased_until := null;
          insert into core_queue select old.*;
        end if;
        return null;`,
    }),
  },
  'tell-old-version': {
    description: 'events name an old version of the service',
    caughtBy: ['version-never-falls'],
    operations: [act('provision'), act('await-orders'), act('terminate'), act('await-orders')],
    sql: trigger('events', 'before insert', {
      body: `new.body := regexp_replace(new.body, '"version":\\d+', '"version":0'); return new;`,
    }),
  },
  'skip-page': {
    description: 'lists of executions omit items after the first page',
    caughtBy: ['walks-are-complete'],
    operations: [...Array.from({ length: 24 }, () => act('provision')), act('await-orders')],
    preloads: ['skip-page'],
  },
  'break-list': {
    description: 'the API answers 500',
    caughtBy: ['answers-are-expected'],
    operations: order,
    preloads: ['break-list'],
  },
  'skip-standby': {
    description: 'orders are acknowledged before they reach the standby, which is then promoted',
    caughtBy: ['orders-are-in-one-place', 'orders-end-once', 'orders-reach-the-network-once'],
    operations: [
      ...[act('provision'), act('provision'), act('await-orders')],
      ...Array.from({ length: 12 }, () => act('provision')),
    ],
    topology: 'pair',
    isAsynchronous: true,
    faults: [{ kind: 'fail-over', process: '', after: 6, lasts: 0, step: '', jumpMs: 0 }],
  },
  'fall-over': {
    description: 'a worker exits by itself',
    caughtBy: ['processes-survive'],
    operations: [act('create-endpoint')],
    preloads: ['fall-over'],
    processes: ['all-1', 'all-2'],
  },
};

/** Selects by the event's id, so an event and its deliveries are dropped together. */
function dropSome(table: string, eventId: string): string {
  const body = `if right((${eventId})::text, 1) < 'a' then return null; end if; return new;`;
  return trigger(table, 'before insert', { body });
}

export function trigger(table: string, when: string, { body }: { body: string }): string {
  return `
    create function break_${table}() returns trigger language plpgsql as $$ begin ${body} end $$;
    create trigger break_${table} ${when} on ${table} for each row execute function break_${table}();`;
}
