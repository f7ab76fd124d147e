import type { History, NetworkCall } from '../history/history.ts';
import type { Violation } from './violation.ts';

/** Each order requests one profile: retries have the same call id and ICCID. A profile in use is never released. */
export function ordersReachTheNetworkOnce(history: History): Violation[] {
  return [...oneOrderEach(history), ...noneShared(history), ...noneReleased(history)];
}

function oneOrderEach({ calls, end }: History): Violation[] {
  const known = new Map(end.flatMap(({ executions }) => executions).map((one) => [one.id, one]));
  const byExecution = groupBy(calls.filter(isOrder), ({ executionId }) => executionId);
  return [...byExecution].flatMap(([id, orders]) => {
    const ids = new Set(orders.map((call) => call.id));
    const iccids = new Set(orders.flatMap(({ iccid }) => iccid ?? []));
    if (!known.has(id)) return [{ about: [id], what: 'the network got an order that no customer placed' }];
    if (ids.size === 1 && iccids.size <= 1) return [];
    return [
      {
        about: [id, ...ids],
        what: `the network got ${Math.max(ids.size, iccids.size)} profile requests for one order`,
      },
    ];
  });
}

function noneShared({ calls }: History): Violation[] {
  const reserved = calls.filter((call) => isOrder(call) && call.iccid !== null);
  const byIccid = groupBy(reserved, ({ iccid }) => String(iccid));
  return [...byIccid].flatMap(([iccid, orders]) => {
    const executions = new Set(orders.map(({ executionId }) => executionId));
    return executions.size === 1
      ? []
      : [{ about: [iccid, ...executions], what: `one ICCID was used for ${executions.size} orders` }];
  });
}

function noneReleased({ calls, end }: History): Violation[] {
  const canceled = new Set(calls.filter(({ step }) => step === 'cancel').map(({ iccid }) => iccid));
  return end.flatMap(({ esims, executions }) =>
    esims.flatMap(({ iccid, status }) => {
      if (!canceled.has(iccid) || status === 'terminated' || status === 'failed') return [];
      // A failed termination may still have reached the network; its error says so.
      const wasTerminating = executions.some((one) => one.type === 'esim.terminate' && one.iccid === iccid);
      return wasTerminating
        ? []
        : [{ about: [iccid], what: `a profile was canceled at the network, but its eSIM is ${status}` }];
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
