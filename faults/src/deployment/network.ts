import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { encodeId, idPrefixes, withCheckDigit } from '@simplane/contract';
import type { History, NetworkCall } from '../history/history.ts';
import type { Random } from '../random.ts';

type CallRequest = {
  step: string;
  id: string;
  attempt: number;
  iccid: string | null;
  worker: string;
  productId?: string;
  matchingId?: string;
};

export type RecordingNetwork = {
  url: string;
  /** From now on every call is answered without faults. */
  heal(): void;
  /**
   * Calls back on the next call of this step, before its answer, which has no fault unless the callback sets one; null removes
   * the callback.
   */
  onNextCall(step: string, callback: ((call: NetworkCall) => void) | null): void;
  stop(): Promise<void>;
};

/**
 * A mock network in the checker's process: it records every call, even if the caller dies, and loses some answers. An order
 * without an ICCID reserves a new profile, however often it is sent.
 */
export async function startNetwork(history: History, random: Random): Promise<RecordingNetwork> {
  let isHealed = false;
  let reserved = 0;
  const newIccid = () => withCheckDigit(`8999908${String(reserved++).padStart(11, '0')}`);
  const callbacks = new Map<string, ((call: NetworkCall) => void) | null>();

  function answer(received: CallRequest, response: ServerResponse): void {
    const fault = isHealed ? 'none' : random.weigh(answerFaults);
    const call: NetworkCall = {
      id: received.id,
      executionId: executionIdOf(received.id),
      step: received.step,
      iccid: received.iccid ?? (sells(received) ? newIccid() : null),
      worker: received.worker,
      atMs: Date.now(),
      answer: fault,
    };
    history.calls.push(call);
    const callback = callbacks.get(received.step);
    callbacks.delete(received.step);
    if (callback) call.answer = 'none';
    callback?.(call);
    if (call.answer === 'refused') call.iccid = received.iccid ?? null; // it was told that nothing is reserved
    const reply = replyTo({ ...received, iccid: call.iccid });
    if (call.answer === 'none') call.answer = reply.kind;
    if (call.answer === 'hung') return;
    if (call.answer === 'lost') response.destroy();
    else
      response.end(
        JSON.stringify(call.answer === 'failed' ? unreachable : call.answer === 'refused' ? declined : reply),
      );
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => answer(JSON.parse(Buffer.concat(chunks).toString()), response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heal() {
      isHealed = true;
    },
    onNextCall: (step, callback) => void callbacks.set(step, callback),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The call always takes effect; only its answer is lost, wrong or never sent. */
const answerFaults = [
  ['none', 85],
  ['lost', 8],
  ['failed', 5],
  ['hung', 2],
] as const;

type Reply = { kind: 'done' | 'refused' | 'failed'; result?: object; reason?: object; hadNoEffect?: true };

const declined: Reply = { kind: 'refused', reason: { code: 'declined', message: 'Declined permanently.' } };
const unreachable: Reply = { kind: 'failed', reason: { code: 'network_unavailable', message: 'Try again.' } };

/** Whether an order gets a profile. */
function sells({ step, attempt, productId }: CallRequest): boolean {
  if (step !== 'order' || productId === 'prod_sandbox_declined') return false;
  return productId !== 'prod_sandbox_flaky' || attempt >= 3;
}

function replyTo(request: CallRequest): Reply {
  const { step, iccid, productId, matchingId } = request;
  if (step === 'order' && !sells(request)) {
    return productId === 'prod_sandbox_declined' ? declined : { ...unreachable, hadNoEffect: true };
  }
  const result =
    step === 'order'
      ? { iccid }
      : { smdpAddress: 'smdp.example.com', matchingId, confirmationCodeRequired: false, isReleased: true };
  return { kind: 'done', result };
}

/** A call id is `<execution uuid>.<step>`. */
function executionIdOf(callId: string): string {
  const [uuid = ''] = callId.split('.');
  return encodeId(idPrefixes.execution, Buffer.from(uuid.replaceAll('-', ''), 'hex'));
}
