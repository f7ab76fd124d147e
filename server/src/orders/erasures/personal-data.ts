import { erasedText } from './erase-event.ts';
import { eraseAccountEvents, eraseAnswersAbout, eraseEventsOf, eraseFailedOrdersOf } from './erase-events.ts';
import {
  deleteLinksOf,
  deleteOfAccount,
  deleteRejectedOf,
  deleteRejectedOfAccount,
  eraseAccountName,
  eraseAuditOf,
  eraseRequestsAbout,
  eraseUsageOf,
  eraseUsageOfAccount,
  type Place,
  updateOfAccount,
  updateOfEsim,
  updateOrdersOf,
} from './sql.ts';

/** Returns where to go on, or null at the end of the table. */
type Erase = (...given: Place) => Promise<string | null>;

export type Step = {
  table: string;
  /** What it erases. Of a table whose rows go, all that they have. */
  columns: readonly string[] | 'rows';
  esim?: Erase;
  account?: Erase;
};

const nothing = 'null';
const noText = `'${erasedText}'`;
const namesOnly = `(select jsonb_object_agg(name, null) from jsonb_object_keys(changes) as name)`;
/** Flags say which steps were done; texts are the network's words and the activation code. */
const flagsOnly = `coalesce((
    select jsonb_object_agg(key, value) from jsonb_each(progress) where jsonb_typeof(value) = 'boolean'), '{}')`;
const orderIds = `coalesce((
    select jsonb_object_agg(key, value)
    from jsonb_each(input)
    where key in ('batch_id', 'price', 'thresholds', 'retry_of')), '{}')`;
const codeOnly = `case when error is not null then
    jsonb_build_object('code', error -> 'code', 'message', ${noText}, 'retryable', error -> 'retryable') end`;

const ofEsim = {
  eid: nothing,
  metadata: `'{}'`,
  description: nothing,
  reference: nothing,
  matching_id: nothing,
  country: nothing,
  not_covered_in: nothing,
  profile_error: nothing,
  erased_at: 'coalesce(erased_at, now())',
};
const ofBundle = { reference: nothing };
const ofOrder = { input: orderIds, error: codeOnly, progress: flagsOnly };
const ofDelivery = { error: nothing, response_excerpt: nothing };
const ofAudit = {
  actor_name: `case when actor_type <> 'api_key' then actor_name end`,
  changes: namesOnly,
  ip: nothing,
  target_id: `case when target_type = 'event_consumer' then ${noText} else target_id end`,
};
/** Ids stay in the entries of an eSIM: they lead to those of its install links. */
const ofEsimAudit = {
  changes: `case when action in ('esim.updated', 'esim.simulated') then ${namesOnly} else changes end`,
  ip: nothing,
};
const ofKey = {
  name: noText,
  allowed_cidrs: `'{}'`,
  created_by: `created_by || '{"name": null}'`,
};

/**
 * All personal data that is stored, and how it goes: the chore runs from this list, and docs/privacy.md is checked against it. A
 * column that is neither here nor in `impersonal` fails a test. What is read to find other rows stands last.
 */
export const steps: readonly Step[] = [
  rowsOf('idempotency_keys', { esim: eraseAnswersAbout }),
  rowsOf('install_links', { esim: deleteLinksOf }),
  rowsOf('event_consumers'),
  rowsOf('branding'),
  rowsOf('webhook_endpoints'),
  rowsOf('delivery_attempts'),
  rowsOf('rejected_usage', { esim: deleteRejectedOf }),
  { table: 'rejected_usage of eSIMs', columns: [], account: deleteRejectedOfAccount },
  { table: 'usage_records', columns: ['country'], esim: eraseUsageOf, account: eraseUsageOfAccount },
  {
    table: 'deliveries',
    columns: Object.keys(ofDelivery),
    account: updateOfAccount('deliveries', ofDelivery),
  },
  // Also what receivers answered to these events, the operator's too.
  { table: 'events', columns: ['body'], esim: eraseEventsOf, account: eraseAccountEvents },
  { table: 'events of failed orders', columns: [], esim: eraseFailedOrdersOf },
  changing('bundles', ofBundle),
  { ...changing('executions', ofOrder), esim: updateOrdersOf(ofOrder) },
  { ...changing('audit_log', ofAudit), esim: eraseAuditOf(ofEsimAudit) },
  { table: 'api_keys', columns: Object.keys(ofKey), account: updateOfAccount('api_keys', ofKey) },
  // Late: its lines are written some time after their requests.
  rowsOf('request_log', { esim: eraseRequestsAbout }),
  changing('esims', ofEsim),
  { table: 'accounts', columns: ['name'], account: eraseAccountName(erasedText) },
];

/** Rows that go with the account, and with the eSIM if `esim` says how. */
function rowsOf(table: string, { esim = null }: { esim?: Erase | null } = {}): Step {
  return { table, columns: 'rows', account: deleteOfAccount(table), ...(esim && { esim }) };
}

/** Columns that are emptied, of the rows of an account or of an eSIM. */
function changing(table: string, columns: Record<string, string>): Step {
  return {
    table,
    columns: Object.keys(columns),
    esim: updateOfEsim(table, columns),
    account: updateOfAccount(table, columns),
  };
}
