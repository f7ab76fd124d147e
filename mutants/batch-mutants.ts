import { api, type Mutant } from './mutant.ts';

const dryRuns = [api('dry-run')];

/** Dry runs and batches. */
export const batchMutants: Mutant[] = [
  {
    name: 'dry-run-stores-its-answer',
    file: 'server/src/http/claim-key.ts',
    find: '  if (isDryRun(definition, body.value)) return null;\n',
    replace: '',
    tests: dryRuns,
    why: 'A dry run leaves its idempotency key to the order.',
  },
  {
    name: 'dry-run-of-any-operation',
    file: 'contract/src/operation.ts',
    find: ` && schema?.properties['dry_run'] !== undefined`,
    replace: '',
    tests: dryRuns,
    why: 'A field that an operation does not take must not switch its idempotency key off.',
  },
  {
    name: 'dry-run-locks-the-account',
    file: 'server/src/orders/executions/limit-open.ts',
    find: 'isDryRun ? countOpen : lockAndCountOpen',
    replace: 'isDryRun ? lockAndCountOpen : lockAndCountOpen',
    tests: dryRuns,
    why: 'A dry run delays no order.',
  },
  {
    name: 'dry-run-ignores-limit',
    file: 'server/src/orders/esims/create.ts',
    find: '  await requireRoom(ctx, ctx.db, { isDryRun: true });\n',
    replace: '',
    tests: dryRuns,
    why: 'A dry run finds that the account has reached its limit.',
  },
  {
    name: 'dry-run-of-top-up-ignores-limit',
    file: 'server/src/orders/bundles/add.ts',
    find: '    await requireRoom(ctx, tx, { isDryRun: true });\n',
    replace: '',
    tests: dryRuns,
    why: 'A dry run finds that the account has reached its limit.',
  },
];
