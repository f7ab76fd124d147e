import { api, type Mutant } from './mutant.ts';

const closing = [api('closing')];
const close = 'server/src/accounts/close-account.ts';
const erasing = [api('erasing')];
const request = 'server/src/orders/erasures/request.ts';
const erasureSql = 'server/src/orders/erasures/sql.ts';
const goOn = 'server/src/orders/closing/continue.ts';

/** Closing and erasing accounts and eSIMs. */
export const eraseMutants: Mutant[] = [
  {
    name: 'closed-account-keeps-keys',
    file: close,
    find: '    await revokeKeysOf(tx, uuid, at);\n',
    replace: '',
    tests: closing,
    why: 'The keys of a closed account are revoked.',
  },
  {
    name: 'closed-account-keeps-sessions',
    file: close,
    find: '    await endSessionsOf(tx, uuid);\n',
    replace: '',
    tests: closing,
    why: 'The sessions of a closed account end.',
  },
  {
    name: 'closing-disables-all-endpoints',
    file: 'server/src/notify/webhooks/endpoints/sql/endpoints.ts',
    find: `  where account_id = $1 and status = 'enabled'
  order by id
  for update
)
update webhook_endpoints e
set status = 'disabled', disabled_reason = $2, disabled_at = $3
from enabled
where e.account_id = $1 and e.id = enabled.id`,
    replace: `  where account_id is not null and $1::uuid is not null and status = 'enabled'
  order by id
  for update
)
update webhook_endpoints e
set status = 'disabled', disabled_reason = $2, disabled_at = $3
from enabled
where e.id = enabled.id`,
    tests: closing,
    why: 'Other accounts’ endpoints stay enabled.',
  },
  {
    name: 'closed-account-shows-install-page',
    file: 'server/src/orders/install-links/sql.ts',
    find: ' and account.closed_at is null',
    replace: '',
    tests: closing,
    why: 'The install links of a closed account end with it.',
  },
  {
    name: 'key-of-closed-account-works',
    file: 'server/src/accounts/key-directory.ts',
    find: ' || row.account?.closed_at != null',
    replace: '',
    tests: closing,
    why: 'A key that was stored while the account was closed does not work.',
  },
  {
    name: 'closed-account-gets-key',
    file: 'server/src/accounts/issue-key.ts',
    find: '  if (wanted.accountUuid !== null) await requireOpenAccount(tx, wanted.accountUuid);\n',
    replace: '',
    tests: closing,
    why: 'A closed account gets no key.',
  },
  {
    name: 'closed-account-reopened',
    file: 'server/src/accounts/update-account.ts',
    find: '  if (row.closed_at) throw accountClosed();\n',
    replace: '',
    tests: closing,
    why: 'A closed account cannot be changed.',
  },
  {
    name: 'closed-account-gets-retry',
    file: 'server/src/orders/operator/start-retry.ts',
    find: `  if (type !== 'esim.terminate') await requireOpenAccount(tx, accountUuid);\n`,
    replace: '',
    tests: closing,
    why: 'No order is started again for a closed account.',
  },
  {
    name: 'operator-writes-in-closed-account',
    file: 'server/src/http/admit.ts',
    find: '      requireOpen(account, operation);\n',
    replace: `      if (account.status !== 'closed') requireOpen(account, operation);\n`,
    tests: closing,
    why: 'An operator cannot write for a closed account.',
  },
  {
    name: 'closing-forgets-last-orders',
    file: goOn,
    find: '  if (deps.clock.nowMs() - closedAt.getTime() < lastOrderMs) return false;\n',
    replace: '',
    tests: closing,
    why: 'An order that a process accepts with a key that it trusts for seconds is canceled too.',
  },
  {
    name: 'closing-does-not-wait-for-orders',
    file: goOn,
    find: '  if ((await countOpen(tx, accountUuid, 1)) > 0) return false;\n',
    replace: '',
    tests: closing,
    why: 'The closing is finished when the last order has ended.',
  },
  {
    name: 'closing-cancels-all-accounts',
    file: 'server/src/orders/executions/sql/queue.ts',
    find: `    where u.account_id = $1 and \${isUnsent('u')}`,
    replace: `    where \${isUnsent('u')}`,
    tests: closing,
    why: 'Only orders of the closed account are looked at.',
  },
  {
    name: 'closing-terminates-without-bound',
    file: goOn,
    find: '  const room = batchSize - (await countOpen(tx, accountUuid, batchSize));\n',
    replace: '  const room: number = batchSize;\n',
    tests: closing,
    why: 'Other accounts’ orders do not wait behind thousands of terminations.',
  },
  {
    name: 'closing-terminates-unasked',
    file: goOn,
    find: '  if (closing.terminate_esims)\n',
    replace: '  if (closing.terminate_esims !== null)\n',
    tests: closing,
    why: 'eSIMs are terminated only if that was asked.',
  },
  {
    name: 'erases-esim-in-use',
    file: request,
    find: `  if (status !== 'terminated' || isQueued) {`,
    replace: '  if (isQueued) {',
    tests: erasing,
    why: 'An eSIM that is not terminated is not erased.',
  },
  {
    name: 'erases-account-with-esims-in-use',
    file: request,
    find: '  if (!account.closing?.terminate_esims) {',
    replace: '  if (!account.closing) {',
    tests: erasing,
    why: 'An account whose eSIMs were not terminated is not erased.',
  },
  {
    name: 'erasure-does-not-wait-for-closing',
    file: erasureSql,
    find: ' and closing.finished_at is not null))',
    replace: '))',
    tests: erasing,
    why: 'An account is erased when its last order has ended.',
  },
  {
    name: 'erasures-do-not-take-turns',
    file: erasureSql,
    find: '  and erasure.account_id > $1\n',
    replace: `  and ('00000000-0000-0000-0000-000000000000' = $1 or erasure.account_id > $1 or true)\n`,
    tests: erasing,
    why: 'An account’s large erasure does not keep others waiting.',
  },
  {
    name: 'erased-esim-takes-notes',
    file: 'server/src/orders/esims/update.ts',
    find: '  if (esim.erased_at) {',
    replace: '  if (esim.erased_at && false) {',
    tests: erasing,
    why: 'Nothing personal is written to an erased eSIM.',
  },
  {
    name: 'late-usage-brings-country-back',
    file: 'server/src/orders/observations/take-usage.ts',
    find: 'country: esim.erased_at ? null : (country ?? null),',
    replace: 'country: country ?? null,',
    tests: erasing,
    why: 'Usage that is reported after the erasure is counted without its country.',
  },
  {
    name: 'operator-cannot-erase-esim',
    file: 'server/src/http/admit.ts',
    find: ' && operation !== operations.eraseEsim',
    replace: '',
    tests: erasing,
    why: 'An operator with operator_write erases an eSIM for its account.',
  },
  {
    name: 'erases-addresses-of-all-requests',
    file: erasureSql,
    find: 'where strpos(path, $3) > 0)',
    replace: 'where $3::text is not null)',
    tests: erasing,
    why: 'Only requests about the erased eSIM lose their address.',
  },
  {
    name: 'erases-responses-of-no-event',
    file: 'server/src/orders/erasures/erase-events.ts',
    find: '  await forgetResponses(tx, account_id, uuids);\n',
    replace: '',
    tests: erasing,
    why: 'What a receiver answered to an event may repeat it.',
  },
  {
    name: 'erases-events-of-all-esims',
    file: erasureSql,
    find: 'indexedIccid} = $3',
    replace: 'indexedIccid} is not null and $3::text is not null',
    tests: erasing,
    why: 'Events of other eSIMs stay as they are.',
  },
  {
    name: 'views-of-links-keep-addresses',
    file: erasureSql,
    find: `  union
  select changes ->> 'install_link_id'
  from audit_log
  where account_id = $1 and target_id = $3 and action = 'esim.install_link_created'
`,
    replace: '',
    tests: erasing,
    why: 'The addresses of those who opened an install link go too.',
  },
  {
    name: 'erasure-leaves-rest-of-table',
    file: 'server/src/orders/erasures/run.ts',
    find: 'reached === null ? own[place + 1] : own[place]',
    replace: 'own[place + 1]',
    tests: erasing,
    why: 'A table is erased to its end, batch after batch.',
  },
  {
    name: 'erasure-requested-twice',
    file: request,
    find: '    ...(!isNew && { changes: null }),\n',
    replace: '',
    tests: erasing,
    why: 'A repeated request for an erasure is not told as another.',
  },
  {
    name: 'erased-answers-tell-the-reference',
    file: 'server/src/orders/erasures/erase-event.ts',
    find: `new Set(['reference', 'eid',`,
    replace: `new Set(['eid',`,
    tests: erasing,
    why: 'A repeated order gets its answer without personal data.',
  },
  {
    name: 'network-brings-erased-data-back',
    file: 'server/src/orders/observations/observe.ts',
    find: 'esim.erased_at || ',
    replace: '',
    tests: erasing,
    why: 'What the network reports of an erased eSIM is not stored.',
  },
  {
    name: 'sandbox-key-in-closed-account',
    file: 'server/src/accounts/ensure-sandbox-key.ts',
    find: '.find(isOpen)',
    replace: '.find((one) => isOpen(one) || true)',
    tests: closing,
    why: 'The key of a sandbox belongs to an open account.',
  },
];
