import type { Topology } from './deployment/postgres.ts';
import { createRandom, type Random } from './random.ts';

/** One customer operation. Its random numbers are drawn in advance and select among what exists when it runs. */
export type Operation = {
  kind: OperationKind;
  /** From 0 to 1: selects the eSIM, endpoint, event or product. */
  pick: number;
  /** From 0 to 1: any other choice of the operation. */
  choice: number;
  /** Whether and how the same request is sent again with the same key. */
  repeat: 'no' | 'after' | 'elsewhere' | 'at-once';
  /** The client hangs up right after sending, and retries. */
  hangsUp: boolean;
};

export type OperationKind = (typeof operationKinds)[number][0];

export type Customer = { name: string; account: number; operations: Operation[] };

export type Fault = {
  kind: FaultKind;
  /** The affected process; unused by some kinds. */
  process: string;
  /** Starts after this many customer operations in total. */
  after: number;
  /** Ends after this many more operations, or as soon as it had its effect. */
  lasts: number;
  /** For `overtake`: the network step during which the worker is held. */
  step: string;
  /** For `clock-jump`: how far the process's wall clock is off. */
  jumpMs: number;
};

export type FaultKind = (typeof faultKinds | typeof failoverKinds)[number][0] | 'upgrade' | 'downgrade';

/** `forgets`: repeated calls are not recognised and the network chooses ICCIDs, so a lost answer to an order is not repeated. */
export type NetworkKind = 'remembers' | 'forgets';

export type Plan = {
  seed: number;
  topology: Topology;
  network: NetworkKind;
  processes: string[];
  customers: Customer[];
  faults: Fault[];
};

const operationKinds = [
  ['provision', 20],
  ['look', 4],
  ['cancel-order', 2],
  ['order-batch', 1.5],
  ['look-batch', 2],
  ['cancel-batch', 0.5],
  ['suspend', 4],
  ['resume', 4],
  ['terminate', 2],
  ['erase-esim', 1],
  ['top-up', 3],
  ['attach', 3],
  ['use-data', 8],
  ['create-endpoint', 2],
  ['retype-endpoint', 1],
  ['disable-endpoint', 1.5],
  ['enable-endpoint', 1.5],
  ['delete-endpoint', 0.5],
  ['rotate-secret', 1.5],
  ['recover', 2],
  ['replay', 4],
  ['retry-delivery', 2],
  ['skip-delivery', 1],
  ['test-event', 6],
  ['revoke-key', 1],
  ['sign-out', 1],
  ['walk', 4],
  ['await-orders', 1],
  ['await-deliveries', 0.2],
] as const;

const faultKinds = [
  ['kill', 6],
  ['freeze', 3],
  ['overtake', 3],
  ['race-heir', 2],
  ['hold-link', 2],
  ['clock-jump', 3],
  ['cut-link', 3],
  ['end-sessions', 2],
  ['restart-postgres', 2],
  ['crash-postgres', 2],
] as const;

/** Need a standby. */
const failoverKinds = [
  ['fail-over', 4],
  ['switch-over', 4],
  ['lose-standby', 2],
] as const;

const topologies = [
  ['single', 2],
  ['pair', 3],
  ['pair-by-hosts', 2],
] as const;

export const topologyNames = topologies.map(([name]) => name);

export function isTopology(text: string): text is Topology {
  return topologyNames.some((name) => name === text);
}

const jumpsMs = [1, -1, 31 * 24, -31 * 24].map((hours) => hours * 3_600_000);
const operationsPerRound = 12;
const faultsPerRound = 3;
const customersPerAccount = 2;
const accounts = 2;
const processes = ['api-1', 'api-2', 'worker-1', 'worker-2'];

/** Plans a whole run from its seed alone. A round takes a few seconds on two idle cores. */
export function makePlan(
  seed: number,
  rounds: number,
  topology = drawTopology(seed),
  network = drawNetwork(seed),
): Plan {
  const customers = Array.from({ length: accounts * customersPerAccount }, (_, index) =>
    makeCustomer(seed, index, rounds),
  );
  const total = customers.reduce((sum, { operations }) => sum + operations.length, 0);
  const random = createRandom(seed, 'faults');
  const count = rounds * faultsPerRound;
  const faults = Array.from({ length: count }, (_, index) =>
    // No fault starts in the last part, so the effects of the last fault can show.
    makeFault(random, topology, Math.floor((total * 0.85 * (index + random.next())) / count)),
  );
  return { seed, topology, network, processes, customers, faults };
}

function drawTopology(seed: number): Topology {
  return createRandom(seed, 'topology').weigh(topologies);
}

function drawNetwork(seed: number): NetworkKind {
  return createRandom(seed, 'network kind').weigh([
    ['remembers', 3],
    ['forgets', 2],
  ]);
}

function makeCustomer(seed: number, index: number, rounds: number): Customer {
  const account = index % accounts;
  const name = `customer-${index + 1}`;
  const random = createRandom(seed, name);
  const length = rounds * operationsPerRound;
  // Every customer starts with an endpoint that gets everything, one that may be flaky, and two eSIMs to change later.
  const opening: OperationKind[] = ['create-endpoint', 'create-endpoint', 'provision', 'provision'];
  const operations = Array.from({ length }, (_, turn) =>
    makeOperation(random, opening[turn] ?? random.weigh(operationKinds)),
  );
  return { name, account, operations };
}

export function makeOperation(random: Random, kind: OperationKind): Operation {
  return {
    kind,
    pick: random.next(),
    choice: random.next(),
    repeat: random.weigh([
      ['no', 5],
      ['after', 2],
      ['elsewhere', 2],
      ['at-once', 2],
    ]),
    hangsUp: random.chance(0.1),
  };
}

function makeFault(random: Random, topology: Topology, after: number): Fault {
  const kind = random.weigh(topology === 'single' ? faultKinds : [...faultKinds, ...failoverKinds]);
  const process = random.pick(processes);
  const step = random.pick(['order', 'confirm', 'confirm', 'suspend', 'cancel']);
  return { kind, process, after, lasts: 3 + random.below(10), step, jumpMs: random.pick(jumpsMs) };
}

/** Describes the plan, one line per fault and customer. */
export function describePlan(plan: Plan): string {
  const { seed, topology, network, processes: names, customers, faults } = plan;
  const lines = [
    `plan of seed ${seed}: ${names.join(', ')}, PostgreSQL as a ${topology}, a network that ${network} calls, ${customers.length} customers`,
  ];
  for (const { name, account, operations } of customers) {
    const counts = new Map<string, number>();
    for (const { kind } of operations) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const text = [...counts].map(([kind, count]) => (count > 1 ? `${kind} ×${count}` : kind)).join(', ');
    lines.push(`  ${name} of account ${account + 1}: ${text}`);
  }
  for (const fault of faults) lines.push(`  after ${fault.after} operations: ${describeFault(fault)}`);
  return lines.join('\n');
}

export function describeFault({ kind, process, lasts, step, jumpMs }: Fault): string {
  switch (kind) {
    case 'end-sessions':
    case 'restart-postgres':
    case 'crash-postgres':
    case 'fail-over':
    case 'lose-standby':
      return kind;
    case 'switch-over':
      return `${kind} for ${lasts} operations`;
    case 'overtake':
      return `overtake a worker during ${step}`;
    case 'race-heir':
      return `race-heir during ${step}`;
    case 'cut-link':
      return `cut-link of ${process}`;
    case 'clock-jump':
      return `${kind} of ${process} by ${jumpMs / 3_600_000} h for ${lasts} operations`;
    default:
      return `${kind} ${process} for ${lasts} operations`;
  }
}
