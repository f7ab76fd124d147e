import { api, live, type Mutant } from './mutant.ts';

const folder = 'server/src/orders/service';
const coreSql = `${folder}/core-sql.ts`;
const core = live('core-state');
const unit = `${folder}/service-of.test.ts`;

/** Mutants of the service state: what follows from an eSIM, what its core is sent, and what a change waits for. */
export const serviceMutants: Mutant[] = [
  {
    name: 'suspended-esim-is-served',
    file: `${folder}/service-of.ts`,
    find: `    case 'suspended':
      return barred(status);`,
    replace: `      return barred(status);
    case 'suspended':`,
    tests: [unit],
    why: 'A suspended eSIM is barred, whatever its bundles.',
  },
  {
    name: 'throttle-outlives-the-validity',
    file: `${folder}/service-of.ts`,
    find: `(actionOf(last) === 'bar' || isOpen(last))`,
    replace: 'true',
    tests: [unit],
    why: 'A throttle ends with the validity of its bundle.',
  },
  {
    name: 'version-raised-over-another',
    file: `${folder}/sql.ts`,
    find: '    and esims.service_version = given.version - 1\n',
    replace: '',
    tests: [api('service-guards')],
    why: 'Two writers that read the same version cannot both write the next one: one body per version.',
  },
  {
    name: 'service-of-another-account-written',
    file: `${folder}/sql.ts`,
    find: '  where esims.account_id = given.account_id\n    and esims.id = given.id',
    replace: '  where esims.id = given.id',
    tests: [api('service-state')],
    why: 'A statement on an account’s table names the account.',
  },
  {
    name: 'older-version-overwrites-a-newer-one',
    file: `${folder}/queue-from.ts`,
    find: '  where known.version < excluded.version`',
    replace: '`',
    tests: [api('service-guards')],
    why: 'The row in the core’s queue never falls back to an older version.',
  },
  {
    name: 'newer-version-waits-for-the-lease-of-an-older-one',
    file: `${folder}/queue-from.ts`,
    find: '      leased_until = null,\n',
    replace: '',
    tests: [core],
    why: 'A newer version is sent at once, also while the core is slow to answer an older one.',
  },
  {
    name: 'refused-version-stays-refused-when-overwritten',
    file: `${folder}/queue-from.ts`,
    find: '      error = null,\n      is_refused = false\n',
    replace: '      error = null\n',
    tests: [core],
    why: 'A newer version is sent although the core has refused an older one.',
  },
  {
    name: 'late-answer-removes-a-newer-version',
    file: coreSql,
    find: '  delete from core_queue\n  where account_id = $1 and iccid = $2 and version = $3',
    replace: '  delete from core_queue\n  where account_id = $1 and iccid = $2 and $3::integer is not null',
    tests: [core],
    why: 'An answer counts for its version only: a newer one stays in the queue.',
  },
  {
    name: 'late-answer-lowers-the-applied-version',
    file: coreSql,
    find: ' and coalesce(applied_version, 0) <= $3\nreturning 1`',
    replace: '\nreturning 1`',
    tests: [core],
    why: 'The applied version never falls.',
  },
  {
    name: 'refused-version-sent-again',
    file: coreSql,
    find: `    where account_id = account.id
      and not is_refused
`,
    replace: `    where account_id = account.id
`,
    tests: [core],
    why: 'A refused version is not sent again.',
  },
  {
    name: 'late-refusal-refuses-a-newer-version',
    file: coreSql,
    find: `    leased_until = null
where account_id = $1 and iccid = $2 and version = $3
returning 1`,
    replace: `    leased_until = null
where account_id = $1 and iccid = $2 and $3::integer is not null
returning 1`,
    tests: [api('service-guards')],
    why: 'A refusal counts for its version only.',
  },
  {
    name: 'leased-state-claimed-again',
    file: coreSql,
    find: '      and (leased_until is null or leased_until <= now())\n',
    replace: '',
    tests: [core],
    why: 'While a worker sends a state, no other one does.',
  },
  {
    name: 'account-with-many-states-goes-first',
    file: `${folder}/account-turns.ts`,
    find: 'last = accounts.at(-1) ?? last;',
    replace: 'last = lowest;',
    tests: [`${folder}/account-turns.test.ts`],
    why: 'Accounts take turns.',
  },
  {
    name: 'account-takes-all-slots',
    file: coreSql,
    find: '  where account.id <> all($4::uuid[])\n',
    replace: '  where $4::uuid[] is not null\n',
    tests: [core],
    why: 'An account whose commands hang leaves room for the others.',
  },
  {
    name: 'core-that-is-down-gets-everything',
    file: `${folder}/start-core-sender.ts`,
    find: 'if (breaker.isPaused() && !breaker.mayClaimProbe()) return [];',
    replace: 'breaker.mayClaimProbe();',
    tests: [api('service-guards')],
    why: 'While the core is down, one command at a time is tried.',
  },
  {
    name: 'change-that-waits-blocks-the-next',
    file: 'server/src/orders/esims/change.ts',
    find: 'await requireNoOpenChange(tx, esim, replaces ? pending.execution_id : null);',
    replace: 'await requireNoOpenChange(tx, esim);',
    tests: [core],
    why: 'A termination does not wait behind a suspension.',
  },
  {
    name: 'superseded-change-stays-open',
    file: 'server/src/orders/esims/await-core.ts',
    find: '  if (esim.pending_change) await supersede(tx, deps, esim, id);\n',
    replace: '',
    tests: [core],
    why: 'A change that a newer one replaces ends.',
  },
  {
    name: 'suspension-succeeds-before-the-core-has-it',
    file: `${folder}/verdict.ts`,
    find: 'applied_version !== null && applied_version >= version',
    replace: 'applied_version === null || applied_version >= version - 1',
    tests: [core],
    why: 'A suspension succeeds when the core has its version, not before.',
  },
  {
    name: 'suspension-waits-for-its-very-version',
    file: `${folder}/verdict.ts`,
    find: 'applied_version >= version)',
    replace: 'applied_version === version)',
    tests: [core],
    why: 'A newer version includes the change.',
  },
  {
    name: 'waiting-change-not-woken',
    file: `${folder}/start-core-sender.ts`,
    find: 'return esim?.pending_change ? wakeChanges(tx, job.account_id, job.iccid) : 0;',
    replace: 'return 0;',
    tests: [api('service-guards')],
    why: 'A change ends as soon as the core has it.',
  },
  {
    name: 'termination-canceled-while-it-waits',
    file: 'server/src/orders/esims/cancel-execution.ts',
    find: ` || esim.pending_change?.change === 'terminate') return false;`,
    replace: ') return false;',
    tests: [core],
    why: 'A termination is final.',
  },
  {
    name: 'canceled-suspension-stays-in-the-service',
    file: 'server/src/orders/esims/cancel-execution.ts',
    find: '  await withdraw(tx, ctx, esim);\n',
    replace: '',
    tests: [core],
    why: 'A canceled suspension is taken out of the eSIM’s service.',
  },
];
