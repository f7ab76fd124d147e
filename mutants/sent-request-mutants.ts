import type { Mutant } from './mutant.ts';

const sdkRequests = 'sdk/test/sent-requests.unit.test.ts';
const cliRequests = 'cli/test/sent-requests.unit.test.ts';
const refusals = 'mcp/test/explain-refusal.unit.test.ts';

/** What the SDK and the command line send, and what agents are told. */
export const sentRequestMutants: readonly Mutant[] = [
  // sdk/src
  {
    name: 'hook-sends-the-key-elsewhere',
    file: 'sdk/src/connection.ts',
    find: 'callHook(onRequest, { ...info });',
    replace: 'callHook(onRequest, info);',
    tests: [sdkRequests],
    why: 'A hook that changes what it was told, to log it, does not change where the request goes.',
  },
  {
    name: 'wrong-address-of-a-stream-tried-for-ever',
    file: 'sdk/src/event-feed.ts',
    find: '  maxRetries = 4,\n',
    replace: '  maxRetries = Number.POSITIVE_INFINITY,\n',
    tests: ['sdk/test/retry-limits.unit.test.ts'],
    why: 'The first connection of a stream fails after some retries, so that a wrong address is noticed.',
  },
  {
    name: 'sdk-searches-all-cells-when-asked-for-one',
    file: 'sdk/src/create-operator.ts',
    find: '...(limit !== undefined && { limit }), ...(cells && { cells })',
    replace: '...(limit !== undefined && { limit }), ...(cells && {})',
    tests: [sdkRequests],
    why: 'An operator’s search with `cells: own` asks no other cell.',
  },
  {
    name: 'leaked-secret-signs-on-after-its-rotation',
    file: 'sdk/src/webhook-endpoints.ts',
    find: `call('rotateWebhookSecret', { params: { id }, body }, options)`,
    replace: `call('rotateWebhookSecret', { params: { id }, body: body && {} }, options)`,
    tests: [sdkRequests],
    why: 'The old signing secret ends when the caller says, such as at once if it has leaked.',
  },

  // mcp/src
  {
    name: 'missing-resource-told-as-a-broken-server',
    file: 'mcp/src/protocol-error.ts',
    find: 'error.status === 404',
    replace: 'error.status === 410',
    tests: [refusals],
    why: 'A resource that does not exist gets the protocol’s code for that, not the one for an internal error.',
  },
  {
    name: 'first-products-told-as-all',
    file: 'mcp/src/products.ts',
    find: 'hasMore: has_more',
    replace: 'hasMore: has_more && data.length > maxProducts',
    tests: [refusals],
    why: 'An agent learns that the catalog has more products than those it was told.',
  },
  {
    name: 'another-tool-named-in-an-error',
    file: 'mcp/src/tool-terms.ts',
    find: `'[^/]+')}$\`)`,
    replace: `'[^/]+')}\`)`,
    tests: [refusals],
    why: 'An error names the tool that was called, not one whose path its path begins with.',
  },
  {
    name: 'argument-of-a-prompt-ends-its-quotes',
    file: 'mcp/src/prompt.ts',
    find: 'JSON.stringify(webhook_url)',
    replace: `\`"\${webhook_url}"\``,
    tests: ['mcp/test/prompt.unit.test.ts'],
    why: 'A URL in the prompt stays a quoted value: its quotes and line breaks add no instructions.',
  },
  {
    name: 'null-among-the-texts-of-a-tool',
    file: 'mcp/src/schema.ts',
    find: '{ enum: values.filter((one) => one !== null) }',
    replace: '{ enum: values }',
    tests: ['mcp/test/tool.unit.test.ts'],
    why: 'A list of texts in a tool’s schema has only texts, or a model provider refuses all tools.',
  },

  // cli/src
  {
    name: 'repeated-top-up-charged-twice',
    file: 'cli/src/commands/bundles.ts',
    find: 'await client.bundles.add(iccid, body, keyOf(options))',
    replace: 'await client.bundles.add(iccid, body)',
    tests: [cliRequests],
    why: 'A top-up that is repeated with the same --idempotency-key is one top-up.',
  },
  {
    name: 'dry-run-orders-an-esim',
    file: 'cli/src/commands/esims.ts',
    find: '    if (options.dryRun) return printDryRun(out, await client.esims.create({ ...body, dry_run: true }));\n',
    replace: '    void printDryRun;\n',
    tests: [cliRequests],
    why: '`esims create --dry-run` orders nothing.',
  },
  {
    name: 'leaked-key-works-for-a-day-after-its-roll',
    file: 'cli/src/commands/keys.ts',
    find: 'const body = options.expiresIn === undefined ? {} : { expires_in: options.expiresIn };',
    replace: 'const body = options.expiresIn ? { expires_in: options.expiresIn } : {};',
    tests: [cliRequests],
    why: '`keys roll --expires-in 0` ends the old key at once.',
  },
  {
    name: 'entries-of-all-actors-listed-by-the-cli',
    file: 'cli/src/commands/audit.ts',
    find: '      ...(options.actor !== undefined && { actor: options.actor }),\n',
    replace: '',
    tests: [cliRequests],
    why: '`audit list --actor` shows what this actor did, and nothing that others did.',
  },
  {
    name: 'sandbox-of-another-user-counts-as-stopped',
    file: 'cli/src/sandbox-address.ts',
    find: `(error as NodeJS.ErrnoException).code === 'EPERM'`,
    replace: `(error as NodeJS.ErrnoException).code === ''`,
    tests: ['cli/src/settings.test.ts'],
    why: 'The CLI finds a sandbox that another user runs, such as root or a container’s.',
  },
  {
    name: 'price-in-yen-shown-as-a-hundredth',
    file: 'cli/src/print/format.ts',
    find: '10 ** (format.resolvedOptions().maximumFractionDigits ?? 2)',
    replace: '100',
    tests: ['cli/src/print/format.test.ts'],
    why: 'The CLI shows the right price in currencies without cents, or with a thousand parts.',
  },
  {
    name: 'trigger-needs-a-key-that-reads',
    file: 'cli/src/find-event-facts.ts',
    find: `(error.status === 403 || error.code === 'resource_missing')`,
    replace: `error.code === 'resource_missing'`,
    tests: [cliRequests],
    why: '`trigger` works with a key that may publish events but not read.',
  },
];
