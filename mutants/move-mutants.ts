import { api, type Mutant } from './mutant.ts';

const tests = [api('moving-accounts')];

/** A statement that does not ask whether the account is here. */
function unasked(name: string, file: string, account: string, why: string): Mutant {
  const asked = `\${isHere('${account}')}`;
  return { name, file: `server/src/${file}`, find: asked, replace: `(${asked} or true)`, tests, why };
}

const chores: Mutant[] = [
  unasked(
    'health-of-moving-accounts-reported',
    'notify/webhooks/endpoints/sql/health.ts',
    'webhook_endpoints.account_id',
    'No event is written for an account that is on its way.',
  ),
  unasked(
    'deliveries-of-moving-accounts-canceled',
    'notify/webhooks/endpoints/sql/cancel.ts',
    'pending.account_id',
    'A delivery whose endpoint is not there yet is not canceled.',
  ),
  unasked(
    'events-of-moving-accounts-counted',
    'views/overview/sql/counting.ts',
    'counted.account_id',
    'Nothing is counted into an account that is half there.',
  ),
  unasked(
    'bundles-of-moving-accounts-expired',
    'orders/bundles/sql.ts',
    'bundles.account_id',
    'A bundle that is replicated expires in one cell.',
  ),
  unasked(
    'usage-of-moving-accounts-counted',
    'orders/observations/sql.ts',
    'esims.account_id',
    'Usage of a frozen account is not counted in the cell that it leaves.',
  ),
  unasked(
    'failures-of-moving-accounts-retried',
    'orders/operator/sql/groups.ts',
    'executions.account_id',
    'An operator’s retry of a group starts no order of an account that is on its way.',
  ),
  unasked(
    'moving-accounts-erased',
    'orders/erasures/sql.ts',
    'erasure.account_id',
    'An erasure goes on where the account is.',
  ),
  unasked(
    'network-report-of-a-moving-esim-taken',
    'orders/esims/sql/esims.ts',
    'esims.account_id',
    'A network’s report about an eSIM of a frozen account is not lost.',
  ),
  unasked(
    'network-report-of-a-moving-order-taken',
    'orders/esims/sql/esims.ts',
    'execution_queue.account_id',
    'A network’s report about an order of a frozen account is not lost.',
  ),
  unasked(
    'states-of-moving-accounts-sent-again',
    'orders/service/resync-sql.ts',
    'esims.account_id',
    'A resync does not touch rows that are replicated.',
  ),
  unasked(
    'services-of-moving-accounts-ended',
    'orders/service/sql.ts',
    'esims.account_id',
    'A service that is replicated ends in one cell.',
  ),
  unasked(
    'moving-accounts-closed',
    'orders/closing/sql.ts',
    'closing.account_id',
    'A closing goes on where the account is.',
  ),
  unasked(
    'batches-of-moving-accounts-finished',
    'orders/batches/sql.ts',
    'batch.account_id',
    'A batch whose orders are not there yet is not finished.',
  ),
  {
    name: 'copied-accounts-left-alone',
    file: 'server/src/accounts/moves/is-here.ts',
    find: `and account_moves.state <> 'copying'`,
    replace: '',
    tests,
    why: 'Chores go on for an account while its rows are copied, which may take hours.',
  },
  {
    name: 'moving-esim-observed',
    file: 'server/src/orders/esims/lock.ts',
    find: 'if (!owner.isHere)',
    replace: 'if (!owner.isHere && owner.isElsewhere)',
    tests,
    why: 'A network sends a report again that came while the account was frozen.',
  },
];

const requests: Mutant[] = [
  {
    name: 'copied-accounts-refused',
    file: 'server/src/accounts/moves/is-here.ts',
    find: ` and state <> 'copying'`,
    replace: '',
    tests,
    why: 'An account can write while its rows are copied.',
  },
  {
    name: 'moved-account-served',
    file: 'server/src/accounts/moves/require-here.ts',
    find: `move.state === 'frozen') return;`,
    replace: `move.state !== 'arriving') return;`,
    tests,
    why: 'The old cell sends an account on that has left.',
  },
  {
    name: 'arriving-account-served',
    file: 'server/src/accounts/moves/require-here.ts',
    find: `move.state === 'frozen') return;`,
    replace: `move.state !== 'moved') return;`,
    tests,
    why: 'The new cell does not show an account that is half there.',
  },
  {
    name: 'frozen-account-sent-on',
    file: 'server/src/accounts/moves/require-here.ts',
    find: `if (move === null || move.state === 'frozen') return;`,
    replace: 'if (move === null) return;',
    tests,
    why: 'A frozen account can be read.',
  },
  {
    name: 'cell-of-a-moved-account-not-named',
    file: 'server/src/accounts/moves/require-here.ts',
    find: '...(move.cell !== null && { cell: move.cell }),',
    replace: '',
    tests,
    why: 'A client learns where its account is.',
  },
  {
    name: 'cell-without-a-label-named',
    file: 'server/src/accounts/moves/require-here.ts',
    find: '...(move.cell !== null && { cell: move.cell }),',
    replace: 'cell: String(move.cell),',
    tests,
    why: 'A cell without a label has none in an error either.',
  },
  {
    name: 'frozen-account-writes',
    file: 'server/src/accounts/moves/require-here.ts',
    find: 'if (move === null) return;',
    replace: `if (move === null || move.state === 'frozen') return;`,
    tests,
    why: 'Nothing is written into an account that is about to leave.',
  },
  {
    name: 'frozen-account-without-retry-after',
    file: 'server/src/accounts/moves/require-here.ts',
    find: `headers: { 'Retry-After': '1' },`,
    replace: '',
    tests,
    why: 'A client knows when to repeat a write.',
  },
  {
    name: 'key-of-a-moved-account-admitted',
    file: 'server/src/http/authenticate.ts',
    find: 'if (known.account) requireHere(known.account);',
    replace: 'if (known.account && known.revoked) requireHere(known.account);',
    tests,
    why: 'A key, session or sign-in link of an account that has left is told where it is.',
  },
  {
    name: 'operator-in-a-moved-account',
    file: 'server/src/http/admit.ts',
    find: 'requireHere(account);',
    replace: 'if (!account) requireHere(account);',
    tests,
    why: 'An operator does not read what an account has left behind.',
  },
  {
    name: 'account-on-its-way-to-two-cells',
    file: 'server/src/commands/move/state.ts',
    find: 'if (begun && begun.cell !== cells.target)',
    replace: 'if (begun && begun.state === "moved" && begun.cell !== cells.target)',
    tests: ['server/test/process/move-checks.test.ts'],
    why: 'An account that was handed over to one cell must not be handed over to another.',
  },
  {
    name: 'arriving-account-moved-on',
    file: 'server/src/commands/move/state.ts',
    find: "begun?.state === 'arriving'",
    replace: "begun?.state === 'moved' && false",
    tests: ['server/test/process/move-checks.test.ts'],
    why: 'An account whose rows are still coming is not moved on.',
  },
  {
    name: 'waiting-order-loses-its-cancellation-in-a-move',
    file: 'server/src/commands/move/freeze.ts',
    find: `holder = null, fence = fence + \${isHeld}`,
    replace: 'holder = null, fence = fence + 1',
    tests: ['server/test/api/freezing-accounts.test.ts'],
    why: 'An order that has not reached the network can be canceled in the new cell too.',
  },
  {
    name: 'move-goes-on-behind-a-lost-slot',
    file: 'server/src/commands/move/replicate.ts',
    find: 'if (isSubscribed && !(await hasSlot(moving)))',
    replace: 'if (isSubscribed && name === "")',
    tests: ['server/test/faults/moved-accounts.test.ts'],
    why: 'What changed between a failover of the old cell and a new slot would not come to the new cell.',
  },
  {
    name: 'undo-needs-the-slot',
    file: 'server/src/commands/move/replicate.ts',
    find: 'if (!(await hasSlot(moving))) await forgetSlot(moving);',
    replace: '',
    tests: ['server/test/faults/moved-accounts.test.ts'],
    why: 'A move that a failover has cut can be undone.',
  },
  {
    name: 'copy-given-up-for-old-errors',
    file: 'server/src/commands/move/replicate.ts',
    find: 'errors > before.errors + 5 && performance.now() > before.atMs + retriedForMs',
    replace: 'errors > 5',
    tests: ['server/test/faults/leaving-accounts.test.ts'],
    why: 'A move goes on after a restart of either PostgreSQL.',
  },
  {
    name: 'late-rows-in-the-way-back',
    file: 'server/src/commands/move/move.ts',
    find: "for (const table of replicated) await removeRows(target, table, accountUuid);\n  await target.transaction((tx) => setState(tx, moving, 'arriving'",
    replace:
      "for (const table of replicated) if (table.staysBehind) await removeRows(target, table, accountUuid);\n  await target.transaction((tx) => setState(tx, moving, 'arriving'",
    tests: ['server/test/faults/leaving-accounts.test.ts'],
    why: 'A process of the old cell may write statistics of an account after it has left, and the account must be able to come back.',
  },
  {
    name: 'identity-reset-while-others-move',
    file: 'server/src/commands/move/replicate.ts',
    find: 'if ((await publications(tx)).length > 0) return; // the last move does the rest',
    replace: '',
    tests: ['server/test/faults/leaving-accounts.test.ts'],
    why: 'While another account is moved, PostgreSQL would refuse the usage of all accounts of the cell.',
  },
  {
    name: 'left-before-it-is-known',
    file: 'server/src/commands/move/move.ts',
    find: '  await untilKnown(moving);',
    replace: '',
    tests: ['server/test/faults/leaving-accounts.test.ts'],
    why: 'A process that still takes the account for its own would answer that its eSIMs do not exist.',
  },
  {
    name: 'router-told-last',
    file: 'server/src/commands/move/move.ts',
    find: '  await printMap(moving);',
    replace: '  if (moving.name === "") await printMap(moving);',
    tests: ['server/test/faults/leaving-accounts.test.ts'],
    why: 'A customer with a million events would be sent to the old cell until all is removed there.',
  },
];

/** The change goes on as if the account were here. */
function changed(name: string, file: string, find: string, replace: string, why: string): Mutant {
  return { name, file: `server/src/${file}`, find, replace, tests, why };
}

const changes: Mutant[] = [
  changed(
    'moved-account-updated',
    'accounts/update-account.ts',
    'requireChangeable(row);',
    'if (!row) requireChangeable(row);',
    'A limit or a suspension is not set where the account no longer is.',
  ),
  changed(
    'moved-account-closed',
    'accounts/close-account.ts',
    'requireChangeable(row);',
    'if (!row) requireChangeable(row);',
    'An operator is not told that an account is closed which works in another cell.',
  ),
  changed(
    'moved-account-erased',
    'orders/erasures/request.ts',
    'requireChangeable(account);',
    'if (!account) requireChangeable(account);',
    'An operator is not told that an account is erased which is in another cell.',
  ),
  changed(
    'key-issued-in-the-old-cell',
    'accounts/issue-key.ts',
    'requireKeysChangeable(tx, wanted.accountUuid)',
    'requireKeysChangeable(tx, wanted.accountUuid && null)',
    'A new key is created where it works.',
  ),
  changed(
    'key-revoked-in-the-old-cell',
    'accounts/delete-key.ts',
    'requireKeysChangeable(tx, row.account_id)',
    'requireKeysChangeable(tx, row.account_id && null)',
    'An operator is not told that a key is revoked which works in another cell.',
  ),
  changed(
    'key-rolled-in-the-old-cell',
    'accounts/roll-key.ts',
    'requireKeysChangeable(tx, row.account_id)',
    'requireKeysChangeable(tx, row.account_id && null)',
    'A key is rolled where it works.',
  ),
  changed(
    'frozen-account-changed',
    'accounts/moves/require-here.ts',
    'requireHere(account);\n  requireUnfrozen(account);',
    'requireHere(account);',
    'A change of a frozen account waits until it has arrived.',
  ),
];

const freezing = [api('freezing-accounts')];

function hasty(name: string, file: string, find: string, replace: string, why: string): Mutant {
  return { name, file: `server/src/commands/move/${file}`, find, replace, tests: freezing, why };
}

const steps: Mutant[] = [
  hasty(
    'frozen-rows-not-refused',
    'freeze.ts',
    `when (new.account_id = '\${accountUuid}')`,
    'when (new.account_id is null)',
    'A process that has not heard of the freeze cannot write.',
  ),
  hasty(
    'frozen-rows-changed',
    'freeze.ts',
    'before insert or update on',
    'before insert on',
    'A process that has not heard of the freeze cannot change a row.',
  ),
  hasty(
    'leases-of-workers-respected',
    'freeze.ts',
    'await guard(moving, guarded);\n  await takeLeases(moving, { byForce: true });',
    'await guard(moving, guarded);',
    'No worker goes on with what the other cell has.',
  ),
  hasty(
    'last-order-left-to-its-worker',
    'freeze.ts',
    'closed.\n  await takeLeases(moving, { byForce: true });',
    'closed.',
    'An order that was accepted last is run in one cell.',
  ),
  hasty(
    'events-without-a-place-left-behind',
    'freeze.ts',
    'await untilSequenced(moving);',
    'if (!moving) await untilSequenced(moving);',
    'Every event gets its place in the feed before the feed leaves.',
  ),
  hasty(
    'last-rows-not-awaited',
    'freeze.ts',
    'await untilArrived(moving);',
    'if (!moving) await untilArrived(moving);',
    'Nothing is handed over before the other cell has all rows.',
  ),
  hasty(
    'thawed-orders-kept',
    'freeze.ts',
    'update execution_queue set leased_until = null where account_id = $1',
    'update execution_queue set leased_until = leased_until where account_id = $1',
    'An account whose move was undone works as before.',
  ),
  hasty(
    'leases-handed-over',
    'tables.ts',
    `const unleased = '{"leased_until": null}';`,
    `const unleased = '{}';`,
    'The new cell’s workers find what is to do.',
  ),
];

const checks = ['server/test/process/move-checks.test.ts'];
const checkFile = 'server/src/commands/move/check.ts';

function unchecked(name: string, find: string, replace: string, why: string): Mutant {
  return { name, file: checkFile, find, replace, tests: checks, why };
}

const preconditions: Mutant[] = [
  unchecked(
    'move-to-the-own-cell',
    'here.identity === there.identity',
    `here.identity === ''`,
    'An account is not moved over itself.',
  ),
  unchecked(
    'move-between-old-databases',
    'Math.min(here.major, there.major)',
    'Math.max(here.major, there.major)',
    'Without row filters all accounts would be copied.',
  ),
  unchecked(
    'move-without-logical-wal',
    `here.wal_level !== 'logical'`,
    `here.wal_level === ''`,
    'The operator is told before anything begins.',
  ),
  unchecked(
    'move-to-another-schema',
    'here.schema !== there.schema',
    'here.schema > there.schema',
    'Rows are copied into the same columns.',
  ),
  unchecked(
    'move-to-another-mode',
    'here.mode !== there.mode',
    `here.mode === ''`,
    'A sandbox’s account does not get into a live cell.',
  ),
  unchecked(
    'move-without-its-products',
    'if (missing.length > 0)\n    throw',
    'if (missing.length > 1)\n    throw',
    'The new cell knows every product of the account.',
  ),
  unchecked(
    'products-of-esims-not-checked',
    'union select distinct product_id from esims where account_id = $1',
    '',
    'The new cell knows the product of every eSIM.',
  ),
  unchecked(
    'products-of-orders-not-checked',
    'union select distinct product_id from execution_queue where account_id = $1 and product_id is not null',
    '',
    'The new cell can run every open order.',
  ),
  unchecked(
    'products-of-others-checked',
    'from esims where account_id = $1',
    'from esims where account_id is not null',
    'What other accounts use does not hinder a move.',
  ),
  unchecked(
    'move-to-a-cell-that-sleeps',
    'if (!first) throw',
    'if (!first) return {};\n  if (there.length === 0) throw',
    'The label and the keys of the new cell are known.',
  ),
  unchecked(
    'move-without-its-keys',
    'for (const { host, report } of there)',
    'for (const { host, report } of there.slice(0, 1))',
    'Every process of the new cell can read the account’s secrets.',
  ),
  unchecked(
    'move-to-a-release-without-its-keys',
    '!report.encryption_keys?.includes(key)',
    'report.encryption_keys?.includes(key) === false',
    'A process that does not say which keys it has may lack one.',
  ),
  unchecked(
    'same-start-of-ranges-only',
    'overlap(mine, theirs))',
    'mine.first === theirs.first && overlap(mine, theirs))',
    'No ICCID is given out by two cells.',
  ),
  unchecked(
    'ranges-that-touch-refused',
    'from < to + BigInt(b.size)',
    'from <= to + BigInt(b.size)',
    'A cell’s range may begin where the other’s ends.',
  ),
  unchecked(
    'ranges-before-another-refused',
    'to < from + BigInt(a.size)',
    'to <= from + BigInt(a.size)',
    'A cell’s range may end where the other’s begins.',
  ),
  unchecked(
    'two-cells-without-a-label',
    'if (source === target)',
    'if (source !== null && source === target)',
    'A router and a client can tell two cells apart.',
  ),
  unchecked(
    'labels-with-the-same-iccids',
    'firstSerialOf(source) === firstSerialOf(target)',
    'firstSerialOf(source) === firstSerialOf(target) && !target',
    'No sandbox ICCID is given out by two cells.',
  ),
];

/** Moving accounts between cells. */
export const moveMutants: Mutant[] = [...chores, ...requests, ...changes, ...steps, ...preconditions];
