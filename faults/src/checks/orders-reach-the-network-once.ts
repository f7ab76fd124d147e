import type { History, NetworkCall } from '../history/history.ts';
import type { Violation } from './violation.ts';

/** The network is asked for one profile an order: repetitions carry one call id and one ICCID. What is in use is not given back. */
export function ordersReachTheNetworkOnce(history: History): Violation[] {
  return [...oneOrderEach(history), ...noneShared(history), ...noneGivenBack(history)];
}

function oneOrderEach({ calls, end }: History): Violation[] {
  const known = new Map(end.flatMap(({ executions }) => executions).map((one) => [one.id, one]));
  const byExecution = groupBy(calls.filter(isOrder), ({ executionId }) => executionId);
  return [...byExecution].flatMap(([id, orders]) => {
    const ids = new Set(orders.map((call) => call.id));
    const iccids = new Set(orders.map(({ iccid }) => iccid));
    if (!known.has(id)) return [{ about: [id], what: 'the network was asked for an order that nobody gave' }];
    if (ids.size === 1 && iccids.size === 1) return [];
    return [
      {
        about: [id, ...ids],
        what: `the network was asked for ${Math.max(ids.size, iccids.size)} profiles for one order`,
      },
    ];
  });
}

function noneShared({ calls }: History): Violation[] {
  const byIccid = groupBy(calls.filter(isOrder), ({ iccid }) => String(iccid));
  return [...byIccid].flatMap(([iccid, orders]) => {
    const executions = new Set(orders.map(({ executionId }) => executionId));
    return executions.size === 1
      ? []
      : [{ about: [iccid, ...executions], what: `one ICCID was ordered for ${executions.size} orders` }];
  });
}

function noneGivenBack({ calls, end }: History): Violation[] {
  const canceled = new Set(calls.filter(({ step }) => step === 'cancel').map(({ iccid }) => iccid));
  return end.flatMap(({ esims, executions }) =>
    esims.flatMap(({ iccid, status }) => {
      if (!canceled.has(iccid) || status === 'terminated' || status === 'failed') return [];
      // An order to terminate that failed may have reached the network all the same, and says so.
      const wasAsked = executions.some((one) => one.type === 'esim.terminate' && one.iccid === iccid);
      return wasAsked
        ? []
        : [{ about: [iccid], what: `a profile was given back at the network, and its eSIM is ${status}` }];
    }),
  );
}

function isOrder({ step }: NetworkCall): boolean {
  return step === 'order';
}

function groupBy<T>(items: T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
