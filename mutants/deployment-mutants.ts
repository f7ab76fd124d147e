import type { Mutant } from './mutant.ts';

const tests = ['server/test/webhooks/deployment-endpoints.test.ts'];
const queueing = 'server/src/notify/webhooks/deployment-deliveries.ts';

/** Webhook endpoints of the deployment: each event of any account once, and nothing of it in an account. */
export const deploymentMutants: Mutant[] = [
  {
    name: 'deployment-place-not-locked',
    file: queueing,
    find: '  for update of p\n',
    replace: '',
    tests,
    why: 'Two processes do not queue an event twice.',
  },
  {
    name: 'deployment-queues-for-disabled',
    file: queueing,
    find: " and e.status = 'enabled'\n",
    replace: '\n',
    tests,
    why: 'A disabled endpoint keeps its place, and loses nothing.',
  },
  {
    name: 'deployment-queue-unbounded',
    file: queueing,
    find: `('blocked_deliveries')} < \${maxWaiting}`,
    replace: `('blocked_deliveries')} < 9 * \${maxWaiting}`,
    tests,
    why: 'An endpoint of the deployment that hangs fills no queue.',
  },
  {
    name: 'deployment-sends-all-types',
    file: queueing,
    find: `subscribes('placed.enabled_event_types', 'event.type')}`,
    replace: `subscribes('placed.enabled_event_types', 'event.type')} or true`,
    tests,
    why: 'An endpoint gets what it subscribes to.',
  },
  {
    name: 'deployment-sends-its-own-twice',
    file: queueing,
    find: 'where account_id = placed.event_account_id and',
    replace: 'where account_id = coalesce(placed.event_account_id, placed.account_id) and',
    tests,
    why: 'An event of the deployment itself was queued by its own statement.',
  },
  {
    name: 'deployment-endpoint-begins-at-the-start',
    file: 'server/src/notify/webhooks/endpoints/sql/endpoints.ts',
    find: 'select $1, $2, coalesce((select last_position from',
    replace: 'select $1, $2, coalesce((select 0 * last_position from',
    tests,
    why: 'An endpoint gets events from its creation on.',
  },
  {
    name: 'deployment-endpoints-unlimited',
    file: 'server/src/accounts/deployment.ts',
    find: 'webhookEndpoints: 50',
    replace: 'webhookEndpoints: 5_000',
    tests,
    why: 'The deployment’s endpoints are bounded: each costs something for every event.',
  },
  {
    name: 'health-shows-deployment-endpoints',
    file: 'server/src/notify/webhooks/endpoints/sql/health.ts',
    find: "where e.id < $1 and e.account_id <> '",
    replace: "where e.id < $1 and e.account_id::text <> 'x",
    tests,
    why: 'The list of the accounts’ endpoints has no account that does not exist.',
  },
  {
    name: 'deployment-feed-repeats-its-own',
    file: 'server/migrations/0040_deployment_feed.sql',
    find: '    where account_id <> deployment\n',
    replace: '',
    tests,
    why: 'An event of the deployment itself is in its feed once.',
  },
];
