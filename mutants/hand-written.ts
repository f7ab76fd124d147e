import { accountGuardMutants } from './account-guard-mutants.ts';
import { agentMutants } from './agent-mutants.ts';
import { allotmentMutants } from './allotment-mutants.ts';
import { announcementMutants } from './announcement-mutants.ts';
import { answerMutants } from './answer-mutants.ts';
import { auditMutants } from './audit-mutants.ts';
import { backgroundGuardMutants } from './background-guard-mutants.ts';
import { backgroundMutants } from './background-mutants.ts';
import { batchMutants } from './batch-mutants.ts';
import { beforeKeyMutants } from './before-key-mutants.ts';
import { bodyMutants } from './body-mutants.ts';
import { boundaryMutants } from './boundary-mutants.ts';
import { bundleMutants } from './bundle-mutants.ts';
import { catalogMutants } from './catalog-mutants.ts';
import { cellMutants } from './cell-mutants.ts';
import { chargingMutants } from './charging-mutants.ts';
import { cliMutants } from './cli-mutants.ts';
import { clientGuardMutants } from './client-guard-mutants.ts';
import { clientMutants } from './client-mutants.ts';
import { clientShareMutants } from './client-share-mutants.ts';
import { clockMutants } from './clock-mutants.ts';
import { closedMutants } from './closed-mutants.ts';
import { commandMutants } from './command-mutants.ts';
import { connectionMutants } from './connection-mutants.ts';
import { contractMutants } from './contract-mutants.ts';
import { coreGuardMutants } from './core-guard-mutants.ts';
import { coreStateMutants } from './core-state-mutants.ts';
import { countingMutants } from './counting-mutants.ts';
import { dashboardMutants } from './dashboard-mutants.ts';
import { databaseGuardMutants } from './database-guard-mutants.ts';
import { databaseShareMutants } from './database-share-mutants.ts';
import { decisionMutants } from './decision-mutants.ts';
import { deliveryMutants } from './delivery-mutants.ts';
import { deploymentMutants } from './deployment-mutants.ts';
import { deskMutants } from './desk-mutants.ts';
import { embeddedGuardMutants } from './embedded-guard-mutants.ts';
import { endpointMutants } from './endpoint-mutants.ts';
import { entryGuardMutants } from './entry-guard-mutants.ts';
import { eraseMutants } from './erase-mutants.ts';
import { erasedValueMutants } from './erased-value-mutants.ts';
import { erasureMutants } from './erasure-mutants.ts';
import { es2plusMutants } from './es2plus-mutants.ts';
import { esimGuardMutants } from './esim-guard-mutants.ts';
import { eventMutants } from './event-mutants.ts';
import { executionGuardMutants } from './execution-guard-mutants.ts';
import { feedGuardMutants } from './feed-guard-mutants.ts';
import { feedMutants } from './feed-mutants.ts';
import { feedReadingMutants } from './feed-reading-mutants.ts';
import { frozenMutants } from './frozen-mutants.ts';
import { growthMutants } from './growth-mutants.ts';
import { handOverMutants } from './hand-over-mutants.ts';
import { heldOrderMutants } from './held-order-mutants.ts';
import { httpGuardMutants } from './http-guard-mutants.ts';
import { installLinkMutants } from './install-link-mutants.ts';
import { keptMutants } from './kept-mutants.ts';
import { keyMutants } from './key-mutants.ts';
import { launcherMutants } from './launcher-mutants.ts';
import { leftBehindMutants } from './left-behind-mutants.ts';
import { listenMutants } from './listen-mutants.ts';
import { listeningMutants } from './listening-mutants.ts';
import { liveMutants } from './live-mutants.ts';
import { measuredMutants } from './measured-mutants.ts';
import { missedEventMutants } from './missed-event-mutants.ts';
import { moveGuardMutants } from './move-guard-mutants.ts';
import { moveMutants } from './move-mutants.ts';
import { api, type Mutant, webhooks } from './mutant.ts';
import { nameMutants } from './name-mutants.ts';
import { networkBackgroundMutants } from './network-background-mutants.ts';
import { networkGuardMutants } from './network-guard-mutants.ts';
import { notifyGuardMutants } from './notify-guard-mutants.ts';
import { notifyHttpMutants } from './notify-http-mutants.ts';
import { numberMutants } from './number-mutants.ts';
import { observationMutants } from './observation-mutants.ts';
import { oldFormMutants } from './old-form-mutants.ts';
import { openedMutants } from './opened-mutants.ts';
import { operatorGuardMutants } from './operator-guard-mutants.ts';
import { operatorMutants } from './operator-mutants.ts';
import { orderAccountMutants } from './order-account-mutants.ts';
import { orderEdgeMutants } from './order-edge-mutants.ts';
import { orderGuardMutants } from './order-guard-mutants.ts';
import { orderListMutants } from './order-list-mutants.ts';
import { orderMutants } from './order-mutants.ts';
import { orderedMutants } from './ordered-mutants.ts';
import { otherCellMutants } from './other-cell-mutants.ts';
import { peerEdgeMutants } from './peer-edge-mutants.ts';
import { peerMutants } from './peer-mutants.ts';
import { platformCommandMutants } from './platform-command-mutants.ts';
import { platformMutants } from './platform-mutants.ts';
import { processMutants } from './process-mutants.ts';
import { queueMutants } from './queue-mutants.ts';
import { quietGuardMutants } from './quiet-guard-mutants.ts';
import { readinessMutants } from './readiness-mutants.ts';
import { recordMutants } from './record-mutants.ts';
import { recoveryMutants } from './recovery-mutants.ts';
import { referenceMutants } from './reference-mutants.ts';
import { requestMutants } from './request-mutants.ts';
import { restMutants } from './rest-mutants.ts';
import { retentionMutants } from './retention-mutants.ts';
import { sampledMutants } from './sampled-mutants.ts';
import { sdkCallMutants } from './sdk-call-mutants.ts';
import { sdkFeedMutants } from './sdk-feed-mutants.ts';
import { secretMutants } from './secret-mutants.ts';
import { seenMutants } from './seen-mutants.ts';
import { sendGuardMutants } from './send-guard-mutants.ts';
import { senderMutants } from './sender-mutants.ts';
import { senderPartMutants } from './sender-part-mutants.ts';
import { sentRequestMutants } from './sent-request-mutants.ts';
import { serviceMutants } from './service-mutants.ts';
import { sessionMutants } from './session-mutants.ts';
import { settingMutants } from './setting-mutants.ts';
import { sharedGuardMutants } from './shared-guard-mutants.ts';
import { siblingMutants } from './sibling-mutants.ts';
import { signedInMutants } from './signed-in-mutants.ts';
import { smdpMutants } from './smdp-mutants.ts';
import { smdpWordMutants } from './smdp-word-mutants.ts';
import { startUpMutants } from './start-up-mutants.ts';
import { streamMutants } from './stream-mutants.ts';
import { surfaceMutants } from './surface-mutants.ts';
import { terminalMutants } from './terminal-mutants.ts';
import { timerMutants } from './timer-mutants.ts';
import { undeliveredMutants } from './undelivered-mutants.ts';
import { unitGuardMutants } from './unit-guard-mutants.ts';
import { upgradeMutants } from './upgrade-mutants.ts';
import { upkeepMutants } from './upkeep-mutants.ts';
import { viewMutants } from './view-mutants.ts';
import { webhookMutants } from './webhook-mutants.ts';
import { workerMutants } from './worker-mutants.ts';

const idempotency: Mutant[] = [
  {
    name: 'refusal-409-not-stored',
    file: 'server/src/platform/idempotency/run-once.ts',
    find: '(status === 404 || status === 409)',
    replace: 'status === 404',
    tests: [api('guards')],
    why: 'A conflict decided by the operation is stored under its key.',
  },
  {
    name: 'refusal-404-not-stored',
    file: 'server/src/platform/idempotency/run-once.ts',
    find: '(status === 404 || status === 409)',
    replace: 'status === 409',
    tests: [api('idempotency')],
    why: 'A not-found answer is stored under its key.',
  },
  {
    name: 'missing-setup-stored',
    file: 'server/src/platform/idempotency/run-once.ts',
    find: ` && code !== 'core_not_connected'`,
    replace: '',
    tests: [api('guards')],
    why: 'An error for a missing setup is not stored under its key.',
  },
  {
    name: 'refusal-keeps-its-writes',
    file: 'server/src/platform/idempotency/run-once.ts',
    find: 'await rollBackWork(tx);',
    replace: '',
    tests: [api('idempotency')],
    why: 'A refusal rolls back the operation’s writes.',
  },
  {
    name: 'no-savepoint',
    file: 'server/src/platform/idempotency/run-once.ts',
    find: 'await startWork(tx);',
    replace: '',
    tests: [api('idempotency')],
    why: 'A refusal is stored in the transaction that decided it.',
  },
  {
    name: 'earlier-answer-ignored',
    file: 'server/src/platform/idempotency/run-once.ts',
    find: 'if (earlier) return earlier;',
    replace: '',
    tests: [api('idempotency')],
    why: 'A retry gets the stored answer and does nothing.',
  },
  {
    name: 'key-not-locked',
    file: 'server/src/platform/idempotency/sql.ts',
    find: ' as locked`',
    replace: ' is not null as locked`',
    tests: [api('guards')],
    why: 'Of two processes with one key only one runs the operation.',
  },
  {
    name: 'expired-key-found',
    file: 'server/src/platform/idempotency/sql.ts',
    find: 'and expires_at > $3',
    replace: 'and $3::timestamptz is not null',
    tests: [api('idempotency')],
    why: 'After 24 hours a key is free again.',
  },
  {
    name: 'expired-key-not-overwritten',
    file: 'server/src/platform/idempotency/keys-in-statement.ts',
    find: 'body = excluded.body,',
    replace: '',
    tests: [api('guards')],
    why: 'A key reused after its expiry replays its new answer.',
  },
  {
    name: 'live-keys-purged',
    file: 'server/src/platform/idempotency/sql.ts',
    find: 'where expires_at <= $1',
    replace: 'where expires_at <= $1 or true',
    tests: [api('idempotency')],
    why: 'Only expired keys are removed.',
  },
];

const changes: Mutant[] = [
  {
    name: 'open-resume-ignored',
    file: 'server/src/orders/executions/limit-open.ts',
    find: 'if (!open) return;',
    replace: `if (!open || open.type === 'esim.resume') return;`,
    tests: [api('guards')],
    why: 'A change is refused while a resume is open.',
  },
  {
    name: 'open-change-ignored',
    file: 'server/src/orders/esims/change.ts',
    find: 'await requireNoOpenChange(tx, esim, replaces ? pending.execution_id : null);',
    replace: '',
    tests: [api('guards')],
    why: 'One change of an eSIM at a time.',
  },
  {
    name: 'change-from-any-status',
    file: 'server/src/orders/esims/change.ts',
    find: 'if (!replaces && !canTransition(change, esim.status)) throw notFrom(esim.status, change);',
    replace: '',
    tests: [api('guards')],
    why: 'A change is accepted only in a status that allows it.',
  },
  {
    name: 'esim-of-another-account-held',
    file: 'server/src/orders/esims/lock.ts',
    find: 'const esim = await lockEsim(tx, accountUuid, iccid);',
    replace:
      'const held = await lockAnyEsim(tx, iccid);\n  const esim = typeof held === "string" ? null : held;\n  void accountUuid;',
    tests: [api('guards')],
    why: 'Another account’s eSIM does not exist.',
  },
  {
    name: 'top-up-of-ended-esim',
    file: 'server/src/orders/bundles/add.ts',
    find: 'if (topUpStatuses.includes(esim.status)) return esim;',
    replace: 'if (topUpStatuses.length > 0) return esim;',
    tests: [api('provisioning'), api('bundles')],
    why: 'An ended eSIM accepts no bundle.',
  },
];

const usage: Mutant[] = [
  {
    name: 'future-usage-not-clamped',
    file: 'server/src/orders/observations/observed-at.ts',
    find: 'Math.min(atSeconds * 1000, nowMs)',
    replace: 'Math.max(atSeconds * 1000, nowMs - nowMs)',
    tests: [api('usage-records')],
    why: 'A record dated in the future counts as current.',
  },
  {
    name: 'sandbox-usage-of-any-account',
    file: 'server/src/orders/observations/report-usage.ts',
    find: `ctx.mode === 'live' ? null : ctx.account.uuid`,
    replace: 'null',
    tests: [api('usage-records')],
    why: 'In a sandbox a key reaches only its own account’s eSIMs.',
  },
  {
    name: 'usage-of-terminated-esim',
    file: 'server/src/orders/observations/take-usage.ts',
    find: `at * 1000 <= esim.terminated_at.getTime() ? null : 'esim_ended'`,
    replace: 'at > 0 ? null : null',
    tests: [api('charging')],
    why: 'Usage after the termination of its eSIM is refused.',
  },
  {
    name: 'usage-counted-again',
    file: 'server/src/orders/observations/take-usage.ts',
    find: 'stored.size === 0 ? records : records.filter(isFresh)',
    replace: 'stored.size >= 0 ? records : records.filter(isFresh)',
    tests: [api('usage-records')],
    why: 'A record that was stored before is not counted again.',
  },
  {
    name: 'usage-counted-twice-in-a-batch',
    file: 'server/src/orders/observations/take-usage.ts',
    find: 'return !ids.has(record.record_id) && ids.add(record.record_id);',
    replace: 'return true;',
    tests: [api('usage-records')],
    why: 'A record that is twice in one request counts once.',
  },
  {
    name: 'usage-of-a-canceled-bundle',
    file: 'server/src/orders/bundles/plan.ts',
    find: `if (bundle.status !== 'active' || !covers(bundle, country)) continue;`,
    replace: `if (bundle.status === 'queued' || !covers(bundle, country)) continue;`,
    tests: ['server/src/orders/bundles/usage-limits.test.ts'],
    why: 'Nothing is counted on a canceled bundle.',
  },
  {
    name: 'thresholds-in-floating-point',
    file: 'server/src/orders/bundles/count-usage.ts',
    find: 'if (Number.isSafeInteger(used) && Number.isSafeInteger(level)) return',
    replace: 'if (used) return',
    tests: ['server/src/orders/bundles/usage-limits.test.ts'],
    why: 'Thresholds are exact for bundles of any size.',
  },
  {
    name: 'thresholds-of-unlimited-bundles',
    file: 'server/src/orders/bundles/insert-from.ts',
    find: `case when data_bytes is null then '{}' else thresholds end`,
    replace: 'thresholds',
    tests: [api('guards')],
    why: 'A bundle without a size has no thresholds.',
  },
  {
    name: 'bundle-of-a-changed-status-overwritten',
    file: 'server/src/orders/bundles/update-from.ts',
    find: 'and bundles.status = given.from_status',
    replace: '',
    tests: [api('guards')],
    why: 'A bundle is changed only from the status it was read with.',
  },
  {
    name: 'bundle-starts-while-suspended',
    file: 'server/src/orders/bundles/write.ts',
    find: `if (esim.status !== 'active') return;`,
    replace: '',
    tests: [api('bundles'), api('observations')],
    why: 'A bundle starts only on an active eSIM.',
  },
  {
    name: 'ended-esim-observed',
    file: 'server/src/orders/observations/observe.ts',
    find: ` || esim.status === 'terminated' || esim.status === 'failed'`,
    replace: '',
    tests: [api('observations')],
    why: 'Reports about an ended eSIM change nothing.',
  },
  {
    name: 'late-country-believed',
    file: 'server/src/orders/observations/observe.ts',
    find: 'if (esim.country_observed_at && at <= esim.country_observed_at) return esim;',
    replace: '',
    tests: [api('observations')],
    why: 'A late report does not change the current country.',
  },
  {
    name: 'simulation-in-live',
    file: 'server/src/orders/sandbox/simulate.ts',
    find: `if (ctx.mode !== 'sandbox') {`,
    replace: 'if (false) {',
    tests: [api('observations')],
    why: 'Only a sandbox simulates a network.',
  },
];

const access: Mutant[] = [
  {
    name: 'revoked-key-admitted',
    file: 'server/src/http/authenticate.ts',
    find: 'if (known.revoked)',
    replace: 'if (known.revoked && !known)',
    tests: [api('errors')],
    why: 'A revoked key is refused.',
  },
  {
    name: 'revoked-key-remembered',
    file: 'server/src/accounts/key-directory.ts',
    find: 'const trustedForMs = 2_500;',
    replace: 'const trustedForMs = 2_500_000;',
    tests: [api('guards')],
    why: 'A revoked key stops within 5 s on every node.',
  },
  {
    name: 'expired-key-admitted',
    file: 'server/src/http/authenticate.ts',
    find: 'known.expiresAtMs !== null && known.expiresAtMs <= nowMs',
    replace: 'known.expiresAtMs !== null && known.expiresAtMs <= 0',
    tests: [api('errors')],
    why: 'A key works until its end date.',
  },
  {
    name: 'test-key-in-live',
    file: 'server/src/http/authenticate.ts',
    find: `if (key.startsWith(keyPrefix[mode === 'live' ? 'sandbox' : 'live'])) {`,
    replace: 'if (false) {',
    tests: [api('errors')],
    why: 'A key of one mode does not work in the other.',
  },
  {
    name: 'scope-unchecked',
    file: 'server/src/http/admit.ts',
    find: 'if (scope === null || hasScope(scopes, scope)) return;',
    replace: `if (scope === null || hasScope(scopes, scope) || scopes.includes('read')) return;`,
    tests: [api('errors'), api('usage-records')],
    why: 'A key does only what its scopes allow.',
  },
  {
    name: 'rate-limit-for-all-keys-together',
    file: 'server/src/http/admit.ts',
    find: 'limiter.take(apiKey.uuid)',
    replace: `limiter.take('')`,
    tests: [api('guards')],
    why: 'Each key has its own rate limit.',
  },
  {
    name: 'unknown-keys-not-limited',
    file: 'server/src/http/authenticate.ts',
    find: 'unknownKeys.take(address);',
    replace: '',
    tests: [api('unknown-keys')],
    why: 'An address that guesses keys is slowed down.',
  },
  {
    name: 'cursor-of-another-account',
    file: 'server/src/platform/lists/cursor.ts',
    find: '`${accountId}${separator}${text}`',
    replace: '`${accountId && separator}${text}`',
    tests: [api('lists'), 'server/src/platform/lists/cursor.test.ts'],
    why: 'A cursor belongs to the account it was made for.',
  },
  {
    name: 'cursor-of-another-list',
    file: 'server/src/platform/lists/cursor.ts',
    find: `list !== scope.list && /^[a-z_]+$/.test(list ?? '')`,
    replace: 'list === null',
    tests: [api('lists'), 'server/src/platform/lists/cursor.test.ts'],
    why: 'A cursor of another list is refused, and the refusal names both.',
  },
  {
    name: 'event-of-any-account',
    file: 'server/src/notify/events/sql/events.ts',
    find: 'select id, body\nfrom events\nwhere account_id = $1 and id = $2',
    replace: 'select id, body\nfrom events\nwhere $1::uuid is not null and id = $2',
    tests: [api('guards')],
    why: 'Another account’s event does not exist.',
  },
  {
    name: 'endpoint-of-any-account',
    file: 'server/src/notify/webhooks/endpoints/sql/endpoints.ts',
    find: 'from webhook_endpoints\nwhere account_id = $1 and id = $2`;\n\nexport const findStatus',
    replace: 'from webhook_endpoints\nwhere $1::uuid is not null and id = $2`;\n\nexport const findStatus',
    tests: [api('guards')],
    why: 'Another account’s webhook endpoint does not exist.',
  },
  {
    name: 'bundles-of-any-account',
    file: 'server/src/orders/bundles/sql.ts',
    find: 'where account_id = $1 and iccid = $2 and id < $3',
    replace: 'where $1::uuid is not null and iccid = $2 and id < $3',
    tests: [api('bundles')],
    why: 'Every statement on an account’s table names the account.',
  },
];

const guards: Mutant[] = [
  {
    name: 'resolved-addresses-unchecked',
    file: 'server/src/notify/webhooks/guard/connector.ts',
    find: 'checkAll(target.hostname, addresses, policy);',
    replace: '',
    tests: ['server/src/notify/webhooks/guard/connector.test.ts', webhooks('ssrf')],
    why: 'A host name with one forbidden address is refused.',
  },
  {
    name: 'connected-address-unchecked',
    file: 'server/src/notify/webhooks/guard/open-socket.ts',
    find: 'if (refusal) {',
    replace: 'if (refusal && !signal) {',
    tests: ['server/src/notify/webhooks/guard/open-socket.test.ts'],
    why: 'The address of a connected socket is checked before anything is sent.',
  },
  {
    name: 'plain-http-sent',
    file: 'server/src/notify/webhooks/guard/connector.ts',
    find: `target.protocol !== 'https:' && !policy.allowsHttp`,
    replace: 'target.protocol === null',
    tests: ['server/src/notify/webhooks/guard/connector.test.ts', webhooks('ssrf')],
    why: 'Where only https is allowed, nothing is sent over http.',
  },
  {
    name: 'never-allowed-address-listed',
    file: 'server/src/notify/webhooks/guard/is-allowed.ts',
    find: `if (found.class !== 'never') {`,
    replace: 'if (found.class) {',
    tests: ['server/src/notify/webhooks/guard/is-allowed.test.ts'],
    why: 'A cloud’s metadata address is refused even if the operator allows it.',
  },
  {
    name: 'old-secrets-never-expire',
    file: 'server/src/notify/webhooks/endpoints/sql/endpoints.ts',
    find: 'set expires_at = least(expires_at, $3)',
    replace: "set expires_at = coalesce(expires_at, $3::timestamptz + interval '9 years')",
    tests: [webhooks('endpoints')],
    why: 'A rotated secret stops signing after its overlap.',
  },
  {
    name: 'signature-without-its-time',
    file: 'server/src/platform/secrets/service-signature.ts',
    find: 'update(`${atSeconds}.${body}`)',
    replace: 'update(body)',
    tests: ['server/src/platform/secrets/service-signature.test.ts'],
    why: 'A signature covers its timestamp, so an old delivery cannot be replayed.',
  },
  {
    name: 'future-delivery-verified',
    file: 'sdk/src/webhooks.ts',
    find: 'Math.abs(nowSeconds - Number(timeText))',
    replace: 'nowSeconds - Number(timeText)',
    tests: ['sdk/test/webhooks.test.ts'],
    why: 'A delivery from the future is refused.',
  },
  {
    name: 'redirect-followed',
    file: 'sdk/src/prepare-request.ts',
    find: "redirect: 'manual'",
    replace: "redirect: 'follow'",
    tests: ['sdk/test/requests.test.ts'],
    why: 'The SDK follows no redirect, so no other server gets the API key.',
  },
  {
    name: 'redirect-mode-unknown-to-workers',
    file: 'sdk/src/prepare-request.ts',
    find: "redirect: 'manual'",
    replace: "redirect: 'error'",
    tests: ['sdk/test/in-a-worker.test.ts'],
    why: 'The SDK runs on Cloudflare Workers.',
  },
  {
    name: 'error-of-another-copy-unknown',
    file: 'sdk/src/mark-error-classes.ts',
    find: 'Object.hasOwn(this.prototype, mark) && hasMark',
    replace: 'false && hasMark',
    tests: ['sdk/test/package.test.ts'],
    why: 'instanceof recognizes errors of the other module system’s copy.',
  },
  {
    name: 'idempotency-key-not-carried',
    file: 'sdk/src/transport.ts',
    find: 'Object.assign(error, { idempotencyKey,',
    replace: 'Object.assign(error, {',
    tests: ['sdk/test/retries.test.ts'],
    why: 'The error of a write has the key with which it can be repeated.',
  },
  {
    name: 'only-the-last-attempt-decides',
    file: 'sdk/src/transport.ts',
    find: 'mayHaveTakenEffect ||= isWrite',
    replace: 'mayHaveTakenEffect = isWrite',
    tests: ['sdk/test/retries.test.ts'],
    why: 'A write whose answer was lost may have taken effect, even if a later attempt was refused.',
  },
  {
    name: 'execution-not-carried',
    file: 'sdk/src/wait.ts',
    find: 'error.execution = execution',
    replace: 'error.execution = undefined',
    tests: ['sdk/test/client.test.ts'],
    why: 'An error while waiting for an order has its execution.',
  },
  {
    name: 'failing-hook-fails-the-call',
    file: 'sdk/src/hooks.ts',
    find: '  } catch {}',
    replace: '  } finally {}',
    tests: ['sdk/test/requests.test.ts'],
    why: 'A broken logger does not fail a call.',
  },
  {
    name: 'write-tools-shown-to-all',
    file: 'mcp/src/create-mcp-server.ts',
    find: 'scopes === undefined || hasScope(scopes, scope)',
    replace: 'scopes === undefined || hasScope(scopes, scope) || true',
    tests: ['mcp/test/scopes.test.ts'],
    why: 'A key is not shown tools that it may not use.',
  },
  {
    name: 'tool-answer-of-any-size',
    file: 'mcp/src/bound-answer.ts',
    find: 'lengthOf(page.data) > maxItemsLength',
    replace: 'lengthOf(page.data) > maxItemsLength * 1_000',
    tests: ['mcp/test/answer-size.test.ts'],
    why: 'A list returns whole items that fit, and nothing is lost between pages.',
  },
  {
    name: 'rest-parameter-in-tool-error',
    file: 'mcp/src/tool.ts',
    find: 'tool.argumentNames?.(args)',
    replace: '{}',
    tests: ['mcp/test/refusals.test.ts'],
    why: 'A tool error names the tool’s argument, not the API’s parameter.',
  },
  {
    name: 'endpoint-limit-off-by-one',
    file: 'server/src/notify/webhooks/endpoints/create.ts',
    find: '(tx, accountUuid)) >= limit',
    replace: '(tx, accountUuid)) > limit',
    tests: [webhooks('endpoints')],
    why: 'An account has no more endpoints than its limit.',
  },
  {
    name: 'recovered-endpoint-disabled',
    file: 'server/src/notify/webhooks/endpoints/sql/endpoints.ts',
    find: 'and ($3::text is null or failing_since is not null)',
    replace: '',
    tests: [webhooks('endpoints')],
    why: 'An endpoint that succeeded meanwhile is not disabled.',
  },
  {
    name: 'enabling-keeps-the-failures',
    file: 'server/src/notify/webhooks/endpoints/sql/endpoints.ts',
    find: ', failing_since = null, failure_count = 0',
    replace: '',
    tests: [webhooks('endpoints')],
    why: 'Enabling an endpoint resets its failure count.',
  },
  {
    name: 'health-event-to-the-endpoint-itself',
    file: 'server/src/notify/events/emit.ts',
    find: ' and endpoint.id <> source.except_endpoint',
    replace: '',
    tests: [webhooks('endpoint-health')],
    why: 'An event about an endpoint goes to the others.',
  },
  {
    name: 'first-failures-reported',
    file: 'server/src/notify/webhooks/endpoints/sql/health.ts',
    find: 'failing_since <= $1 and',
    replace: '$1::timestamptz is not null and',
    tests: [webhooks('endpoint-health')],
    why: 'A burst of failures is not reported.',
  },
  {
    name: 'enabled-counts-as-recovered',
    file: 'server/src/notify/webhooks/endpoints/sql/endpoints.ts',
    find: "is not null then 'enabled' end",
    replace: "is not null then 'recovered' end",
    tests: [webhooks('endpoint-health')],
    why: 'An endpoint has recovered only after a success.',
  },
  {
    name: 'enabled-endpoint-not-reported-again',
    file: 'server/src/notify/webhooks/endpoints/sql/endpoints.ts',
    find: "is not null then 'enabled' end",
    replace: "is not null then 'failing' end",
    tests: [webhooks('endpoint-health')],
    why: 'Failures after enabling are reported again.',
  },
  {
    name: 'unreported-failures-recover',
    file: 'server/src/notify/webhooks/sender/sql/settle-deliveries.ts',
    find: 'summed.last_success_at is not null and e.reported_health is not null',
    replace: 'summed.last_success_at is not null',
    tests: [webhooks('endpoint-health')],
    why: 'Only a reported failure is reported as recovered.',
  },
  {
    name: 'every-success-writes-the-endpoint',
    file: 'server/src/notify/webhooks/sender/sql/settle-deliveries.ts',
    find: "or e.last_success_at < summed.last_success_at - interval '1 minute'",
    replace: 'or e.last_success_at < summed.last_success_at',
    tests: [webhooks('endpoint-health')],
    why: 'A delivery to a healthy endpoint does not write its row.',
  },
  {
    name: 'forgotten-endpoints-stay-busy',
    file: 'server/src/notify/webhooks/sender/lanes.ts',
    find: 'if (!lanes.has(endpointUuid)) endpoints.delete(endpointUuid);',
    replace: 'lanes.has(endpointUuid);',
    tests: ['server/src/notify/webhooks/sender/lanes-limits.test.ts'],
    why: 'Deleted endpoints do not accumulate in memory.',
  },
  {
    name: 'failing-endpoints-take-every-slot',
    file: 'server/src/notify/webhooks/sender/ready-endpoints.ts',
    find: "standing === 'untried' ? 0 : reservedForUntried",
    replace: '0 * reservedForUntried',
    tests: ['server/src/notify/webhooks/sender/ready-endpoints.test.ts'],
    why: 'Failing endpoints, however many, leave slots for those that were never tried.',
  },
  {
    name: 'stopping-sender-takes-endpoints',
    file: 'server/src/notify/webhooks/sender/ready-endpoints.ts',
    find: 'let left = isClosed ? 0 : count;',
    replace: 'let left = count;',
    tests: ['server/src/notify/webhooks/sender/ready-endpoints.test.ts'],
    why: 'A sender that stops claims nothing more.',
  },
  {
    name: 'scan-drops-an-endpoint-added-meanwhile',
    file: 'server/src/notify/webhooks/sender/due-endpoints.ts',
    find: 'for (const endpointUuid of before)',
    replace: 'for (const endpointUuid of [...before, ...ready.unproven()])',
    tests: ['server/src/notify/webhooks/sender/due-endpoints.test.ts'],
    why: 'What a signal made ready during a scan is still sent.',
  },
  {
    name: 'wake-up-during-work-is-lost',
    file: 'server/src/platform/worker/wake.ts',
    find: 'isAwake = true;',
    replace: '',
    tests: ['server/src/platform/worker/wake.test.ts'],
    why: 'A loop that is woken while it works does not rest.',
  },
  {
    name: 'recovery-skips-to-its-end',
    file: 'server/src/notify/webhooks/recoveries/run-recoveries.ts',
    find: 'position: events.at(-1)?.id ?? recovery.from_event',
    replace: 'position: recovery.from_event',
    tests: [webhooks('deliveries-api')],
    why: 'A recovery continues where its last batch ended.',
  },
  {
    name: 'recovery-ends-after-a-batch',
    file: 'server/src/notify/webhooks/recoveries/run-recoveries.ts',
    find: 'const isFinished = events.length < batchSize;',
    replace: 'const isFinished = true;',
    tests: [webhooks('deliveries-api')],
    why: 'A recovery ends at its first event.',
  },
  {
    name: 'recovery-counts-only-its-last-batch',
    file: 'server/src/notify/webhooks/recoveries/sql.ts',
    find: 'queued_count = queued_count + $5',
    replace: 'queued_count = $5',
    tests: [webhooks('deliveries-api')],
    why: 'A recovery counts what it queued, across processes.',
  },
  {
    name: 'canceled-recovery-shown-as-succeeded',
    file: 'server/src/notify/webhooks/recoveries/sql.ts',
    find: ', is_canceled = true',
    replace: '',
    tests: [webhooks('deliveries-api')],
    why: 'A recovery whose endpoint was disabled did not succeed.',
  },
  {
    name: 'recovery-of-every-type',
    file: 'server/src/notify/webhooks/recoveries/run-recoveries.ts',
    find: 'matches(event.type, subscriptions) &&',
    replace: '',
    tests: [webhooks('deliveries-api')],
    why: 'A recovery sends only subscribed event types.',
  },
  {
    name: 'recovery-of-events-about-its-endpoint',
    file: 'server/src/notify/webhooks/recoveries/run-recoveries.ts',
    find: 'endpointIdOf(event) !== endpointId',
    replace: '(true || endpointId)',
    tests: [webhooks('endpoint-health')],
    why: 'An endpoint does not get the events about itself.',
  },
  {
    name: 'replay-to-the-endpoint-it-is-about',
    file: 'server/src/notify/webhooks/deliveries/sql/queue.ts',
    find: 'id is distinct from $5::uuid',
    replace: '($5::uuid is null or true)',
    tests: [webhooks('endpoint-health')],
    why: 'An endpoint does not get the events about itself.',
  },
];

const operation: Mutant[] = [
  {
    name: 'wrong-key-recorded',
    file: 'server/src/platform/secrets/claim-sealing-key.ts',
    find: 'if (missing.length === 0) await',
    replace: 'await',
    tests: ['server/test/process/reseal.test.ts'],
    why: 'A process with wrong encryption keys does not make others unready.',
  },
  {
    name: 'wrong-key-works',
    file: 'server/src/background/start-work.ts',
    find: 'service.missingKeys.length === 0',
    replace: 'service.missingKeys.length >= 0',
    tests: ['server/test/process/reseal.test.ts'],
    why: 'A process with wrong encryption keys runs no orders.',
  },
  {
    name: 'mismatched-certificate-in-use',
    file: 'server/src/network/es2plus/certificates.ts',
    find: '!own.checkPrivateKey(parseKey(key, keyFile))',
    replace: 'false',
    tests: ['server/test/live/certificates.test.ts', 'server/test/live/reload-certificates.test.ts'],
    why: 'Certificate and key are taken together or not at all.',
  },
  {
    name: 'statements-compiled-by-jit',
    file: 'server/src/platform/db/session.ts',
    find: `jit: 'off'`,
    replace: `jit: 'on'`,
    tests: ['server/test/process/pooler.test.ts'],
    why: 'No statement of ours is compiled before it runs.',
  },
  {
    name: 'key-in-a-logged-path',
    file: 'server/src/http/record-request.ts',
    find: 'path === route ? path : redact(path)',
    replace: 'path',
    tests: ['server/test/api/leaks.test.ts'],
    why: 'A key that a client puts into a path is not logged, even if the request succeeds.',
  },
  {
    name: 'refusals-logged-as-plain-lines',
    file: 'server/src/http/record-request.ts',
    find: 'if (!refusal && !failed) logPlain',
    replace: 'if (!failed) logPlain',
    tests: ['server/test/api/leaks.test.ts'],
    why: 'What a client sent wrongly is logged by the logger that redacts it.',
  },
  {
    name: 'failed-deliveries-logged-as-plain-lines',
    file: 'server/src/notify/webhooks/sender/record-result.ts',
    find: 'if (error === null && cause === undefined) logPlain',
    replace: 'if (error !== undefined) logPlain',
    tests: ['server/test/webhooks/endpoint-health.test.ts'],
    why: 'The log says why an attempt failed.',
  },
  {
    name: 'plain-lines-at-every-level',
    file: 'server/src/platform/telemetry/log.ts',
    find: `if (!log.isLevelEnabled('info')) return;`,
    replace: '',
    tests: ['server/src/platform/telemetry/log.test.ts'],
    why: 'A log of warnings has no line for each request.',
  },
  {
    name: 'last-words-lost',
    file: 'server/src/platform/telemetry/log.ts',
    find: "  process.once('exit', flush);\n",
    replace: '',
    tests: ['server/src/platform/telemetry/log.test.ts'],
    why: 'What a process logs in the turn in which it exits is written.',
  },
  {
    name: 'untrusted-client-served',
    file: 'server/src/network/es2plus/explain-refusal.ts',
    find: 'if (!socket.authorized) return',
    replace: 'if (!socket.encrypted) return',
    tests: ['server/test/live/notifications.test.ts'],
    why: 'Only a client with a trusted certificate can send notifications.',
  },
];

export const handWritten: readonly Mutant[] = [
  ...feedGuardMutants,
  ...missedEventMutants,
  ...senderPartMutants,
  ...countingMutants,
  ...sampledMutants,
  ...sentRequestMutants,
  ...platformCommandMutants,
  ...notifyHttpMutants,
  ...networkBackgroundMutants,
  ...orderAccountMutants,
  ...surfaceMutants,
  ...orderListMutants,
  ...notifyGuardMutants,
  ...idempotency,
  ...changes,
  ...usage,
  ...access,
  ...guards,
  ...operation,
  ...beforeKeyMutants,
  ...closedMutants,
  ...auditMutants,
  ...keyMutants,
  ...growthMutants,
  ...clientShareMutants,
  ...databaseShareMutants,
  ...orderedMutants,
  ...queueMutants,
  ...decisionMutants,
  ...liveMutants,
  ...deploymentMutants,
  ...entryGuardMutants,
  ...eraseMutants,
  ...feedMutants,
  ...sdkFeedMutants,
  ...clockMutants,
  ...processMutants,
  ...cellMutants,
  ...otherCellMutants,
  ...moveMutants,
  ...readinessMutants,
  ...upgradeMutants,
  ...retentionMutants,
  ...serviceMutants,
  ...webhookMutants,
  ...backgroundMutants,
  ...restMutants,
  ...handOverMutants,
  ...batchMutants,
  ...recoveryMutants,
  ...nameMutants,
  ...viewMutants,
  ...clientMutants,
  ...dashboardMutants,
  ...requestMutants,
  ...orderMutants,
  ...chargingMutants,
  ...platformMutants,
  ...referenceMutants,
  ...terminalMutants,
  ...quietGuardMutants,
  ...undeliveredMutants,
  ...unitGuardMutants,
  ...operatorMutants,
  ...orderGuardMutants,
  ...esimGuardMutants,
  ...networkGuardMutants,
  ...installLinkMutants,
  ...endpointMutants,
  ...eventMutants,
  ...feedReadingMutants,
  ...sdkCallMutants,
  ...secretMutants,
  ...senderMutants,
  ...workerMutants,
  ...accountGuardMutants,
  ...sendGuardMutants,
  ...agentMutants,
  ...answerMutants,
  ...bodyMutants,
  ...recordMutants,
  ...seenMutants,
  ...sessionMutants,
  ...streamMutants,
  ...erasureMutants,
  ...observationMutants,
  ...allotmentMutants,
  ...listenMutants,
  ...es2plusMutants,
  ...smdpMutants,
  ...commandMutants,
  ...deskMutants,
  ...moveGuardMutants,
  ...peerMutants,
  ...cliMutants,
  ...erasedValueMutants,
  ...operatorGuardMutants,
  ...coreGuardMutants,
  ...catalogMutants,
  ...bundleMutants,
  ...numberMutants,
  ...heldOrderMutants,
  ...settingMutants,
  ...executionGuardMutants,
  ...upkeepMutants,
  ...deliveryMutants,
  ...connectionMutants,
  ...launcherMutants,
  ...sharedGuardMutants,
  ...announcementMutants,
  ...boundaryMutants,
  ...contractMutants,
  ...smdpWordMutants,
  ...databaseGuardMutants,
  ...frozenMutants,
  ...oldFormMutants,
  ...backgroundGuardMutants,
  ...leftBehindMutants,
  ...measuredMutants,
  ...signedInMutants,
  ...startUpMutants,
  ...listeningMutants,
  ...embeddedGuardMutants,
  ...keptMutants,
  ...timerMutants,
  ...siblingMutants,
  ...openedMutants,
  ...coreStateMutants,
  ...orderEdgeMutants,
  ...peerEdgeMutants,
  ...httpGuardMutants,
  ...clientGuardMutants,
];
