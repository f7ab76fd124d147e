import { setTimeout } from 'node:timers/promises';
import type { WebhookEvent } from '@simplane/sdk';
import { type Answer, post } from './post.ts';
import { signatureHeaders } from './sign.ts';

export type Attempt = Answer & {
  /** 1 for the first. */
  number: number;
  isSuccess: boolean;
  /** Null if no other attempt follows. */
  retryInMs: number | null;
};

export type ForwardOptions = {
  target: URL;
  secret: string;
  userAgent: string;
  signal: AbortSignal;
  onAttempt(attempt: Attempt): void;
  /** Pauses after each failed attempt but the last. */
  retryDelaysMs?: readonly number[];
};

// Short: a developer is watching, and the events after this one wait.
const defaultDelaysMs = [1_000, 2_000, 4_000, 8_000];

/**
 * Sends an event as the service would, until the app accepts it or the attempts are used up. Returns false if it was
 * stopped before that.
 */
export async function forward(event: WebhookEvent, options: ForwardOptions): Promise<boolean> {
  const { target, secret, userAgent, signal, onAttempt, retryDelaysMs = defaultDelaysMs } = options;
  // The bytes of the service's own deliveries: they too are what JSON.stringify made of the event.
  const body = JSON.stringify(event);
  for (let number = 1; ; number++) {
    const atSeconds = Math.floor(Date.now() / 1000);
    const headers = {
      'content-type': 'application/json',
      'user-agent': userAgent,
      ...(await signatureHeaders(secret, { id: event.id, body, atSeconds })),
    };
    const answer = await post(target, { headers, body }, signal);
    const isSuccess = answer.status !== null && answer.status >= 200 && answer.status < 300;
    if (signal.aborted && !isSuccess) return false;
    const retryInMs = isSuccess ? null : (retryDelaysMs[number - 1] ?? null);
    onAttempt({ ...answer, number, isSuccess, retryInMs });
    if (retryInMs === null) return true;
    await setTimeout(retryInMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return false;
  }
}
