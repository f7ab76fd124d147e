import { setTimeout as sleep } from 'node:timers/promises';
import type { Sent } from '../history/history.ts';
import { isAnswer } from '../history/is-answer.ts';
import { HarnessFailure, type World } from '../world.ts';

export type Request = {
  account: number;
  method?: string;
  path: string;
  body?: unknown;
  key?: string | null;
  /** Which API process is asked first; the next attempt goes to the next one. */
  at?: number;
  /** The first attempt is given up as soon as it is sent. */
  isImpatient?: boolean;
};

const hurryMs = 3;
const pauseMs = 40;

/** Asks until there is an answer, with the same key, at whichever process. Every attempt goes into the history. */
export async function ask(world: World, request: Request): Promise<Sent> {
  for (let attempt = 0; ; attempt++) {
    const timeoutMs = request.isImpatient && attempt === 0 ? hurryMs : world.patienceMs;
    const sent = await askOnce(world, { ...request, at: (request.at ?? 0) + attempt }, timeoutMs);
    if (sent && isAnswer(sent)) return sent;
    if (Date.now() > world.giveUpAtMs) {
      const last = sent ? `${sent.status} ${sent.text.slice(0, 200)}` : 'no process was up';
      throw new HarnessFailure(`no answer to ${request.method ?? 'GET'} ${request.path} in time: ${last}`);
    }
    await sleep(pauseMs);
  }
}

/** One attempt; null when the process that it was meant for is down. */
export async function askOnce(
  { deployment, history }: World,
  request: Request,
  timeoutMs: number,
): Promise<Sent | null> {
  const { account, method = 'GET', path, body, key = null, at = 0 } = request;
  const apis = deployment.processes.filter(({ role }) => role !== 'worker');
  const server = apis[at % apis.length];
  const url = server?.url();
  if (!server || !url) return null;
  const sent: Sent = {
    ...{ account, process: server.name, method, path, body: body ?? null, key, sentMs: Date.now() },
    ...{ answeredMs: 0, status: null, text: '', isReplayed: false },
  };
  try {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${deployment.keys[account]}`,
        ...(key !== null && { 'idempotency-key': key }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      signal: AbortSignal.timeout(timeoutMs),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    sent.isReplayed = response.headers.get('idempotent-replayed') === 'true';
    sent.text = text;
    sent.status = response.status;
  } catch {
    sent.status = null; // hung up, reset, or nobody there
  }
  sent.answeredMs = Date.now();
  history.sent.push(sent);
  return sent;
}
