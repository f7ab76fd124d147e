import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stopServer } from './stop-server.ts';

type RecordedCall = {
  step: string;
  id: string;
  attempt: number;
  iccid: string | null;
  worker: string;
};

export type RecordingNetwork = {
  url: string;
  calls: RecordedCall[];
  /** The distinct call ids of a step; a second id for one order would be a second order. */
  idsOf(step: string): Set<string>;
  /** Runs before each answer: may wait, and may return another answer. */
  onCall(behave: (call: RecordedCall) => Promise<object | undefined> | undefined): void;
  stop(): Promise<void>;
};

/** A network outside the worker processes: its record survives their deaths. */
export async function startRecordingNetwork(): Promise<RecordingNetwork> {
  const calls: RecordedCall[] = [];
  let behave: (call: RecordedCall) => Promise<object | undefined> | undefined = () => undefined;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const call = JSON.parse(Buffer.concat(chunks).toString());
      calls.push(call);
      Promise.resolve(behave(call)).then(
        (other) => response.end(JSON.stringify(other ?? { kind: 'done', result: resultOf(call) })),
        (error: Error) => response.destroy(error),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    idsOf: (step) => new Set(calls.filter((call) => call.step === step).map(({ id }) => id)),
    onCall: (next) => {
      behave = next;
    },
    stop: () => stopServer(server),
  };
}

function resultOf({ step, iccid, matchingId }: RecordedCall & { matchingId?: string }): object {
  if (step === 'order') return { iccid };
  if (step !== 'confirm') return {};
  return { smdpAddress: 'smdp.example.com', matchingId, confirmationCodeRequired: false, isReleased: true };
}
