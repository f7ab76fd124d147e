import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { encodeId, idPrefixes } from '@simplane/contract';
import type { History, NetworkCall } from '../history/history.ts';
import type { Random } from '../random.ts';

type Asked = {
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
  /** From now on every call is answered well. */
  heal(): void;
  /** Called with the next call of that step before it is answered, well; null: no longer. */
  catchNext(step: string, caught: ((call: NetworkCall) => void) | null): void;
  stop(): Promise<void>;
};

/** A network outside of every process: it remembers what it was asked for, whoever dies, and loses some of its answers. */
export async function startNetwork(history: History, random: Random): Promise<RecordingNetwork> {
  let isHealed = false;
  const traps = new Map<string, ((call: NetworkCall) => void) | null>();

  function answer(asked: Asked, response: ServerResponse): void {
    const trouble = isHealed ? 'none' : random.weigh(troubles);
    const call: NetworkCall = {
      id: asked.id,
      executionId: executionIdOf(asked.id),
      step: asked.step,
      iccid: asked.iccid,
      worker: asked.worker,
      atMs: Date.now(),
      answer: trouble,
    };
    history.calls.push(call);
    const trap = traps.get(asked.step);
    traps.delete(asked.step);
    if (trap) call.answer = 'none';
    trap?.(call);
    const reply = replyTo(asked);
    if (call.answer === 'none') call.answer = reply.kind;
    if (call.answer === 'hung') return;
    if (call.answer === 'lost') response.destroy();
    else response.end(JSON.stringify(call.answer === 'failed' ? unreachable : reply));
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
    catchNext: (step, caught) => void traps.set(step, caught),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** What it did is done in all cases; only the answer does not come, or comes wrong. */
const troubles = [
  ['none', 85],
  ['lost', 8],
  ['failed', 5],
  ['hung', 2],
] as const;

type Reply = { kind: 'done' | 'refused' | 'failed'; result?: object; reason?: object };

const unreachable: Reply = { kind: 'failed', reason: { code: 'network_unavailable', message: 'Try again.' } };

function replyTo({ step, attempt, iccid, productId, matchingId }: Asked): Reply {
  if (step === 'order' && productId === 'prod_sandbox_declined') {
    return { kind: 'refused', reason: { code: 'declined', message: 'Declined for good.' } };
  }
  if (step === 'order' && productId === 'prod_sandbox_flaky' && attempt < 3) return unreachable;
  const result =
    step === 'order'
      ? { iccid }
      : { smdpAddress: 'smdp.example.com', matchingId, confirmationCodeRequired: false, isReleased: true };
  return { kind: 'done', result };
}

/** A call id is the execution's uuid, a dot and the step. */
function executionIdOf(callId: string): string {
  const [uuid = ''] = callId.split('.');
  return encodeId(idPrefixes.execution, Buffer.from(uuid.replaceAll('-', ''), 'hex'));
}
