import { api, type Mutant } from './mutant.ts';

const plan = 'server/src/orders/bundles/plan.ts';
const count = 'server/src/orders/bundles/count-usage.ts';
const planUsage = 'server/src/orders/observations/plan-usage.ts';
const takeUsage = 'server/src/orders/observations/take-usage.ts';
const usageSql = 'server/src/orders/observations/usage-sql.ts';
const unit = 'server/src/orders/observations/charging.test.ts';

/** Mutants of charging: which bundle takes usage, what is told, what is corrected and what is refused. */
export const chargingMutants: Mutant[] = [
  {
    name: 'byte-on-a-foreign-bundle',
    file: 'server/src/orders/service/service-of.ts',
    find: 'country === null || countries === null || countries.includes(country)',
    replace: 'country === null || countries === null || countries.length > 0',
    tests: [unit],
    why: 'Usage counts only on bundles that cover its country.',
  },
  {
    name: 'bundle-that-expires-last-first',
    file: plan,
    find: 'endOf(bundle) < endOf(first)',
    replace: 'endOf(bundle) > endOf(first)',
    tests: [unit],
    why: 'Of the active bundles, the one that expires first is filled.',
  },
  {
    name: 'uncovered-usage-told-every-time',
    file: planUsage,
    find: '  if (told.includes(name)) return;\n',
    replace: '',
    tests: [unit],
    why: 'Uncovered usage is told once per country and day.',
  },
  {
    name: 'threshold-told-again-after-a-correction',
    file: count,
    find: 'const known = mostUsed(before);',
    replace: 'const known = before.used_bytes;',
    tests: [unit],
    why: 'A threshold that was told is not told again.',
  },
  {
    name: 'expired-bundle-given-back',
    file: count,
    find: `canTransition('restore', before.status) && isOpen`,
    replace: `canTransition('restore', before.status) && true`,
    tests: [unit],
    why: 'A correction gives no bundle back that has expired.',
  },
  {
    name: 'record-corrected-twice',
    file: planUsage,
    find: `if (state.corrected.has(id) || known.get(id)?.isCorrected) return 'already_corrected';`,
    replace: '',
    tests: [unit, api('charging')],
    why: 'A record is replaced once; its parts would be taken back twice.',
  },
  {
    name: 'corrected-record-still-counts',
    file: usageSql,
    find: 'set bytes = 0,\n',
    replace: 'set bytes = usage_records.bytes,\n',
    tests: [api('charging')],
    why: 'The amount that was replaced is in no sum.',
  },
  {
    name: 'record-corrected-in-its-batch-still-counts',
    file: takeUsage,
    find: ': { accountUuid, iccid, id, bytes: 0, at, country, parts: [], correctedBy: by }',
    replace: ': { accountUuid, iccid, id, bytes, at, country, parts, correctedBy: by }',
    tests: [api('charging')],
    why: 'A record that is replaced in its own batch is in no sum.',
  },
  {
    name: 'correction-of-another-esim',
    file: 'server/src/orders/observations/take-usage.ts',
    find: 'const known = stored.get(esim.iccid) ??',
    replace: 'const known = [...stored.values()].at(-1) ??',
    tests: [api('charging'), api('usage-records')],
    why: 'The id of a record is unique within its eSIM only.',
  },
  {
    name: 'usage-before-the-order',
    file: 'server/src/orders/observations/observed-at.ts',
    find: 'return at < created_at ? created_at : at;',
    replace: 'return created_at ? at : created_at;',
    tests: [api('charging')],
    why: 'No bundle starts before its eSIM was ordered.',
  },
  {
    name: 'all-rejected-usage-of-a-sandbox-kept',
    file: 'server/src/orders/observations/report-usage.ts',
    find: `ctx.mode === 'live' ? rejected : rejected.slice(0, maxRejections)`,
    replace: 'rejected',
    tests: [api('charging')],
    why: 'An account of a sandbox cannot fill the table with a few requests.',
  },
  {
    name: 'last-reason-not-kept',
    file: usageSql,
    find: 'where known.reason <> excluded.reason or known.bytes <> excluded.bytes',
    replace: 'where known.bytes <> excluded.bytes',
    tests: [api('charging')],
    why: 'A record that is rejected again shows the last reason.',
  },
  {
    name: 'started-bundle-canceled',
    file: 'server/src/orders/bundles/cancel.ts',
    find: `if (before.status !== 'queued') {`,
    replace: `if (before.status === 'canceled') {`,
    tests: [api('charging')],
    why: 'A bundle that has started is not canceled on request.',
  },
  {
    name: 'top-up-of-any-region',
    file: 'server/src/orders/bundles/add.ts',
    find: 'if (!body.any_region) await requireSharedCountry(tx, esim, product);',
    replace: 'if (body.any_region) await requireSharedCountry(tx, { product_id: product.id }, product);',
    tests: [api('provisioning')],
    why: 'A top-up that covers no country of the eSIM’s product needs a word.',
  },
  {
    name: 'expired-bundles-of-one-esim-expired-twice',
    file: 'server/src/orders/bundles/expire.ts',
    find: 'const esims = [...new Map(locked.map((esim) => [esim.iccid, esim])).values()];',
    replace: 'const esims = locked;',
    tests: [api('charging')],
    why: 'Several bundles of one eSIM that expire together end once each.',
  },
  {
    name: 'price-of-today',
    file: 'server/src/orders/bundles/insert-from.ts',
    find: `        esim.price,\n`,
    replace: '        null::jsonb,\n',
    tests: [api('charging')],
    why: 'A bundle has the price at the time of sale.',
  },
];
