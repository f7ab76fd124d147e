import {
  type Execution,
  type ExecutionType,
  heldProduct,
  idPrefixes,
  type Price,
  waitingForWorker,
} from '@simplane/contract';
import { unixSeconds } from '../../platform/clock.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import type { ExecutionRow } from './sql/executions.ts';

export type { ExecutionRow } from './sql/executions.ts';

export function presentExecution(row: ExecutionRow): Execution {
  const id = idOfUuid(idPrefixes.execution, row.id);
  return {
    id,
    object: 'execution',
    execution_id: id,
    type: row.type,
    status: row.status,
    product_id: row.product_id,
    iccid: row.iccid,
    reference: row.reference,
    ...(row.batch_id !== null && { batch_id: idOfUuid(idPrefixes.batch, row.batch_id) }),
    ...(row.price && { price: row.price }),
    ...(row.error && { error: row.error }),
    attempts: row.attempts,
    created: unixSeconds(row.created_at),
    finished_at: row.finished_at && unixSeconds(row.finished_at),
    waiting_for: row.waiting_for && describeWaiting(row.waiting_for),
    next_attempt_at: row.next_attempt_at && unixSeconds(row.next_attempt_at),
    ...(row.retry_of !== null && { retry_of: idOfUuid(idPrefixes.execution, row.retry_of) }),
    ...(row.retried_by !== null && { retried_by: idOfUuid(idPrefixes.execution, row.retried_by) }),
  };
}

type New = {
  type: ExecutionType;
  productId: string;
  iccid: string | null;
  reference?: string | null;
  createdAt: Date;
  price?: Price | undefined;
};

/** A newly accepted execution, before its row can be read. */
export function presentNew(id: string, order: New): Execution {
  const { type, productId, iccid, reference = null, createdAt, price } = order;
  const isHeld = productId === heldProduct.id;
  return {
    id,
    object: 'execution',
    execution_id: id,
    type,
    status: 'queued',
    product_id: productId,
    iccid,
    reference,
    ...(price && { price }),
    attempts: 0,
    created: unixSeconds(createdAt),
    finished_at: null,
    waiting_for: describeWaiting(isHeld ? 'held' : 'worker'),
    next_attempt_at: unixSeconds(createdAt) + (isHeld ? heldProduct.seconds : 0),
  };
}

/**
 * Why an open execution waits: in words for its operator, and what the account that ordered should do. No host, setting or other
 * account. `release` stores the cause in the execution's progress; the first three follow from the row itself.
 */
const causes = {
  worker: waitingForWorker,
  held: [
    `This sandbox product waits ${heldProduct.seconds} seconds before it reaches the network, so that you can try to cancel it.`,
    'Then it starts automatically.',
  ],
  takeover: [
    'It was interrupted and continues automatically.',
    'If it still waits after a few minutes, tell the operator.',
  ],
  network: [
    'The network failed or did not answer. The next attempt is automatic.',
    'If attempts keep failing, ask the operator about the network.',
  ],
  core: [
    'The operator’s core has not confirmed the change yet. It is sent again automatically.',
    'A suspension or resumption can be canceled; if it keeps waiting, ask the operator about the core network.',
  ],
  internal: [
    'An internal error interrupted it. The next attempt is automatic.',
    'If attempts keep failing, give the operator the id of the execution.',
  ],
} as const;

export type WaitingCause = keyof typeof causes;

/** A newer release may have stored a cause that this one does not know. */
export function describeWaiting(cause: string, isForOperator = false): string {
  const [why, whatToDo] = Object.hasOwn(causes, cause) ? causes[cause as WaitingCause] : causes.worker;
  return `${why} ${isForOperator ? 'If it lasts, `simplane-server doctor` says what to fix.' : whatToDo}`;
}
