import { live, type Mutant } from './mutant.ts';

/** Mutants of a live network: what is reserved, given back, and waited for. */
export const liveMutants: Mutant[] = [
  {
    name: 'unusable-profile-resumed',
    file: 'server/src/orders/esims/run-provision.ts',
    find: '{ is_ordered: true, is_reserved: true, verdict }',
    replace: '{ is_ordered: true, is_reserved: true }',
    tests: [live('iccids')],
    why: 'A profile that cannot be used is never confirmed.',
  },
  {
    name: 'reserved-profile-forgotten',
    file: 'server/src/orders/executions/hold.ts',
    find: ` || reply.reservedIccid !== undefined`,
    replace: '',
    tests: [live('iccids')],
    why: 'An order whose profile is reserved counts as sent.',
  },
  {
    name: 'number-of-a-terminated-esim-returned',
    file: 'server/src/orders/esims/sql/orders.ts',
    find: `change.type <> 'esim.provision'`,
    replace: `change.type = 'none'`,
    tests: [live('returned-iccids')],
    why: 'A number whose eSIM is being terminated is not given back.',
  },
  {
    name: 'number-of-a-reported-esim-returned',
    file: 'server/src/orders/esims/sql/orders.ts',
    find: 'and observed is null',
    replace: '',
    tests: [live('returned-iccids')],
    why: 'A number that the network has reported on is not given back.',
  },
  {
    name: 'number-returned-after-a-lost-answer',
    file: 'server/src/orders/esims/run-provision.ts',
    find: ' && giveBack && !mayBeReserved(progress)',
    replace: ' && giveBack',
    tests: [live('returned-iccids')],
    why: 'A number that may have been used is not given back.',
  },
  {
    name: 'paused-attempt-counted',
    file: 'server/src/orders/executions/sql/queue.ts',
    find: 'attempts = q.attempts - $5::integer,',
    replace: 'attempts = q.attempts - $5::integer * 0,',
    tests: [live('gateway-errors')],
    why: 'An order uses up no attempt while the network is paused.',
  },
  {
    name: 'profile-left-behind-by-a-pause',
    file: 'server/src/orders/executions/worker.ts',
    find: 'if (reply === notCalled) throw new NetworkPaused();',
    replace: '',
    tests: [live('gateway-errors')],
    why: 'An order is not failed while the network is paused if its profile must be canceled first.',
  },
  {
    name: 'paused-orders-claimed',
    file: 'server/src/orders/executions/claim.ts',
    find: 'if (breaker.isPaused()) return',
    replace: 'if (false) return',
    tests: [live('gateway-errors')],
    why: 'No order is claimed while the network is paused.',
  },
];
