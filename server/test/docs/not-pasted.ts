/** Blocks that the test cannot run beside a sandbox: the page, how the block begins, and why. */
export const notPasted: { page: string; begins: string; why: string }[] = [
  {
    page: 'README.md',
    begins: 'npm ci && npm start',
    why: 'installs, and runs until Ctrl-C; the test starts the same server itself',
  },
  { page: 'README.md', begins: 'npm ci && npm test', why: 'would run this test; .ci/run runs it' },
  {
    page: 'README.md',
    begins: 'npx simplane listen',
    why: 'runs until Ctrl-C; cli/test/listen.test.ts runs it',
  },
  {
    page: 'docs/cli.md',
    begins: 'npx simplane events tail',
    why: 'runs until Ctrl-C; cli/test/events-tail.test.ts runs it',
  },
  {
    page: 'docs/cli.md',
    begins: 'npx simplane listen',
    why: 'runs until Ctrl-C; cli/test/listen.test.ts runs it',
  },
  { page: 'docs/agents.md', begins: 'claude mcp add', why: 'needs Claude Code' },
  {
    page: 'docs/agents.md',
    begins: 'npm run mcp:inspect',
    why: 'takes minutes, and installs tools from the network',
  },
  {
    page: 'docs/connect-your-smdp.md',
    begins: 'export SIMPLANE_MODE=live',
    why: 'needs an SM-DP+; server/test/live runs live mode',
  },
  { page: 'README.md', begins: 'npm pack', why: 'server/test/process/packages.test.ts packs them' },
  {
    page: 'README.md',
    begins: 'npm install ./simplane-cli',
    why: 'server/test/process/packages.test.ts installs them',
  },
  {
    page: 'docs/faults.md',
    begins: 'npm run faults',
    why: 'takes minutes; faults/test/short-run.test.ts runs one',
  },
  {
    page: 'docs/faults.md',
    begins: 'npm run cells',
    why: 'takes minutes, and needs HAProxy',
  },
  ...['kubectl apply -f cells.yaml', 'kubectl create configmap'].map((begins) => ({
    page: 'docs/cells.md',
    begins,
    why: 'needs a Kubernetes cluster; server/test/process/deploy-cells.test.ts runs what the files say',
  })),
  ...['pip install', 'mkdir -p simplane', 'mvn -q'].map((begins) => ({
    page: 'docs/other-languages.md',
    begins,
    why: 'installs tools of other languages; `npm run clients` runs it',
  })),
  {
    page: 'docs/privacy.md',
    begins: 'npx simplane esims terminate',
    why: 'erases an eSIM that the reader names; cli/test/commands.test.ts runs it',
  },
  {
    page: 'docs/privacy.md',
    begins: 'npx simplane-server accounts export',
    why: 'erases an account that the reader names; server/test/process/operator.test.ts runs it',
  },
  { page: 'docs/mutants.md', begins: 'npm run mutants', why: 'takes 40 minutes' },
  { page: 'docs/releasing.md', begins: 'docker build', why: 'needs a container engine' },
  { page: 'sdk/README.md', begins: 'npm pack', why: 'sdk/test/package.test.ts packs it' },
  {
    page: 'sdk/README.md',
    begins: 'npm install ./simplane-sdk',
    why: 'sdk/test/package.test.ts installs it',
  },
  {
    page: 'examples/exactly-once/README.md',
    begins: 'export SIMPLANE_API_KEY',
    why: 'needs a PostgreSQL of your own; server/test/feed/exactly-once-example.test.ts runs it',
  },
  { page: 'CONTRIBUTING.md', begins: 'npm ci', why: 'would run this test; .ci/run runs it' },
];
