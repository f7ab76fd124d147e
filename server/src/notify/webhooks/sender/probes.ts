import { idPrefixes } from '@simplane/contract';
import type { Logger } from 'pino';
import { idOfUuid } from '../../../platform/ids/uuid.ts';
import { type Keyring, UnreadableSecret } from '../../../platform/secrets/keyring.ts';
import type { AttemptResult, Unsent } from './attempt.ts';
import { type Message, resolveHost, type SendOptions, send } from './send.ts';
import { createSigningKeys } from './sign.ts';

type Options = Omit<SendOptions, 'signingKeys'> & { keyring: Keyring; log: Pick<Logger, 'info' | 'warn'> };

/** What the operation that sends a test request also needs. */
export type Probing = { probes: Pick<ReturnType<typeof createProbes>, 'send'> };

// A request to a hanging endpoint takes 15 s. Few people test at once, and nobody's tests may hold up another account's.
const maxTotal = 32;
const maxPerAccount = 4;

/** Sends test requests the way deliveries are sent: same signature, guard, limits and privacy. Touches no delivery and no health. */
export function createProbes(options: Options) {
  const sendOptions: SendOptions = { ...options, signingKeys: createSigningKeys(options.keyring) };
  const runningOf = new Map<string, number>();
  const stopping = new AbortController();
  let running = 0;

  async function attemptOnce(message: Message): Promise<AttemptResult | Unsent> {
    try {
      const found = await resolveHost(sendOptions, message, stopping.signal);
      if (!('addresses' in found)) return found;
      const result = await send(sendOptions, message, found.addresses, stopping.signal);
      return stopping.signal.aborted ? { unsent: 'stopping', isFault: false } : result;
    } catch (error) {
      if (error instanceof UnreadableSecret) return { unsent: error.message, isFault: true };
      throw error;
    }
  }

  /** Omits the URL: its path and query may contain the receiver's secrets. */
  function log(message: Message, result: AttemptResult | Unsent): void {
    const about = {
      webhook_endpoint_id: idOfUuid(idPrefixes.webhookEndpoint, message.endpoint_id),
      account_id: idOfUuid(idPrefixes.account, message.account_id),
    };
    if ('unsent' in result) {
      options.log.warn({ ...about, reason: result.unsent }, 'a webhook test request was not sent');
      return;
    }
    const { ok, statusCode, error, cause, durationMs } = result;
    const outcome = ok ? 'succeeded' : 'failed';
    const details = {
      outcome,
      status: statusCode ?? undefined,
      error: error ?? undefined,
      cause,
      duration_ms: durationMs,
    };
    options.log.info({ ...about, ...details }, 'webhook test request');
  }

  return {
    /** Sends one test request, or returns `busy` if too many are under way. Bounded by the time limits of deliveries. */
    async send(message: Message): Promise<AttemptResult | Unsent | 'busy'> {
      const own = runningOf.get(message.account_id) ?? 0;
      if (running >= maxTotal || own >= maxPerAccount) return 'busy';
      running += 1;
      runningOf.set(message.account_id, own + 1);
      try {
        const result = await attemptOnce(message);
        log(message, result);
        return result;
      } finally {
        running -= 1;
        const left = (runningOf.get(message.account_id) ?? 1) - 1;
        if (left > 0) runningOf.set(message.account_id, left);
        else runningOf.delete(message.account_id);
      }
    },
    /** Aborts the requests under way. */
    stop: (): void => stopping.abort(),
  };
}
