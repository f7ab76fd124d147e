import { api, type Mutant } from './mutant.ts';

/** Mutants of how requests are shared out, checked and answered. */
export const answerMutants: Mutant[] = [
  {
    name: 'reads-take-all-connections',
    file: 'server/src/http/database-shares.ts',
    find: 'Math.floor((db.pool.options.max ?? 1) / 2)',
    replace: 'Math.floor((db.pool.options.max ?? 1) * 2)',
    tests: ['server/src/http/database-shares.test.ts'],
    why: 'Slow reads leave half of the connections to writes.',
  },
  {
    name: 'files-of-all-accounts-in-one-queue',
    file: 'server/src/http/serve-operation.ts',
    find: ': readInTurn(ownerOf(request), () => answerRead(request, reply)),',
    replace: `: readInTurn('', () => answerRead(request, reply)),`,
    tests: [api('batch-profiles')],
    why: 'An account that draws files does not delay another’s.',
  },
  {
    name: 'event-read-without-room',
    file: 'server/src/http/serve-operation.ts',
    find: ` || path === operations.getEvent.path;`,
    replace: ` && path !== operations.getEvent.path;`,
    tests: [api('fair-answers')],
    why: 'An event, whose data may be large, is read only when there is room for it.',
  },
  {
    name: 'repeated-probe-sent-again',
    file: 'server/src/http/run-write.ts',
    find: '  if (earlier) return earlier;\n',
    replace: '  if (earlier) void earlier;\n',
    tests: ['server/test/webhooks/endpoint-views.test.ts'],
    why: 'A probe that is repeated with its key is answered from the store, and the receiver gets one.',
  },
  {
    name: 'secret-repeated-in-an-error',
    file: 'server/src/http/validate.ts',
    find: `if ((parentSchema as { writeOnly?: boolean }).writeOnly) return 'something else';`,
    replace: `if (!(parentSchema as { writeOnly?: boolean })) return 'something else';`,
    tests: [api('order-options'), api('leaks'), api('exact-limits')],
    why: 'An error never repeats a confirmation code.',
  },
  {
    name: 'refused-value-repeated-whole',
    file: 'server/src/http/validate.ts',
    find: `clip(JSON.stringify(data) ?? 'nothing')`,
    replace: `(clip.length > 9 ? '' : JSON.stringify(data)) ?? 'nothing'`,
    tests: [api('leaks'), api('exact-limits'), api('errors')],
    why: 'A refusal repeats only the beginning of a long value.',
  },
  {
    name: 'secret-answer-compressed',
    file: 'server/src/http/compress-answer.ts',
    find: `reply.getHeader('cache-control') !== 'no-store'`,
    replace: `reply.getHeader('cache-control') !== 'none'`,
    tests: [api('compression')],
    why: 'An answer with a secret is not compressed: its length would tell of the text beside it.',
  },
  {
    name: 'idempotency-key-of-any-length',
    file: 'server/src/http/claim-key.ts',
    find: '!/^[ -~]{1,255}$/.test(key)',
    replace: '!/^[ -~]{1,25500}$/.test(key)',
    tests: [api('errors')],
    why: 'An idempotency key has at most 255 characters.',
  },
];
