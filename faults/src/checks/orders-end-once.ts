import type { Esim, Execution } from '@simplane/contract';
import type { History } from '../history/history.ts';
import { bodyOf, writesOf } from '../history/writes.ts';
import type { Violation } from './violation.ts';

/** Every accepted order ends once: in exactly one eSIM, or as a failure with a reason. An end never changes. */
export function ordersEndOnce(history: History): Violation[] {
  return [...acceptedEnd(history), ...esimsHaveOneOrder(history), ...endsStay(history)];
}

function acceptedEnd(history: History): Violation[] {
  return writesOf(history).flatMap((write) => {
    if (write.status !== 202 || !/"object":"execution"/.test(write.text)) return [];
    const { id } = bodyOf<Execution>(write);
    const { executions = [], esims = [] } = history.end[write.account] ?? {};
    const found = executions.filter((one) => one.id === id);
    const [execution] = found;
    if (!execution || found.length > 1) {
      return [{ about: [id, write.key], what: `an accepted order is in the list ${found.length} times` }];
    }
    return checkOrder(execution, esims).map((what) => ({
      about: [id, ...(execution.iccid ? [execution.iccid] : []), write.key],
      what,
    }));
  });
}

function checkOrder({ type, status, iccid, error }: Execution, esims: Esim[]): string[] {
  if (status !== 'succeeded' && status !== 'failed') return [`an order has not ended: it is ${status}`];
  if (status === 'failed' && !error) return ['an order failed without an error'];
  if (type !== 'esim.provision') return [];
  const its = esims.filter((esim) => esim.iccid === iccid);
  const isReady = its.some((esim) => esim.status !== 'provisioning' && esim.status !== 'failed');
  if (status === 'succeeded' && (its.length !== 1 || !isReady)) {
    return [`an order succeeded with ${its.length} eSIMs (${its.map((esim) => esim.status).join()})`];
  }
  const isAlive = its.some((esim) => esim.status !== 'failed' && esim.status !== 'terminated');
  return status === 'failed' && isAlive
    ? [`an order failed, but its eSIM is ${its.map((esim) => esim.status).join()}`]
    : [];
}

function esimsHaveOneOrder({ end }: History): Violation[] {
  return end.flatMap(({ esims, executions }) =>
    esims.flatMap(({ iccid }) => {
      const orders = executions.filter((one) => one.type === 'esim.provision' && one.iccid === iccid);
      if (orders.length === 1) return [];
      return [{ about: [iccid, ...orders.map(({ id }) => id)], what: `an eSIM has ${orders.length} orders` }];
    }),
  );
}

/** A client that has seen an order's end never sees a different one. */
function endsStay({ sent, end }: History): Violation[] {
  return sent.flatMap(({ account, method, path, status, text }) => {
    if (method !== 'GET' || status !== 200 || !/^\/v1\/executions\/exec_\w+$/.test(path)) return [];
    const seen = JSON.parse(text) as Execution;
    if (seen.status !== 'succeeded' && seen.status !== 'failed') return [];
    const last = end[account]?.executions.find(({ id }) => id === seen.id);
    if (!last || (last.status === seen.status && last.iccid === seen.iccid)) return [];
    return [{ about: [seen.id], what: `an order had ended as ${seen.status} and is now ${last.status}` }];
  });
}
