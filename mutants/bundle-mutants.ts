import { api, type Mutant } from './mutant.ts';

/** Mutants of bundles and of what the sandbox simulates. */
export const bundleMutants: Mutant[] = [
  {
    name: 'expiry-stops-after-a-batch',
    file: 'server/src/orders/bundles/expire.ts',
    find: 'if (batch.locked < batchSize) break;',
    replace: 'if (batch.locked <= batchSize) break;',
    tests: [api('bundles')],
    why: 'Expiry goes on until no bundle is due.',
  },
  {
    name: 'expiry-ignores-the-stop',
    file: 'server/src/orders/bundles/expire.ts',
    find: 'while (!stopping?.aborted)',
    replace: 'while (stopping || true)',
    tests: [api('bundles')],
    why: 'A process that stops expires no more bundles.',
  },
  {
    name: 'bundle-of-a-moment-ago-not-expired',
    file: 'server/src/orders/bundles/sql.ts',
    find: 'bundles.expires_at <= $1 and',
    replace: 'bundles.expires_at < $1 and',
    tests: [api('bundles')],
    why: 'A bundle has expired at its end.',
  },
  {
    name: 'top-up-by-a-loser',
    file: 'server/src/orders/bundles/run-top-up.ts',
    find: 'if (!isOurs || !isPossible) return;',
    replace: 'if (!isPossible) return;',
    tests: [api('held-executions')],
    why: 'A worker that lost a top-up adds no bundle.',
  },
];
