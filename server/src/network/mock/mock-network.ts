import { setTimeout as delay } from 'node:timers/promises';
import type { Call, Network, Reply } from '../port.ts';
import { slowFactor } from '../slow-factor.ts';

type Options = { delayMs: number };

/**
 * A stateless network: the same call gets the same answer in any process, before and after a restart. The sandbox's
 * misbehaving products fail here, the way real networks do.
 */
export function createMockNetwork({ delayMs }: Options): Network {
  return {
    iccids: 'ours',

    async order({ iccid, productId, attempt, signal }) {
      return (await sell(productId, attempt, signal)) ?? { kind: 'done', result: { iccid: iccid as string } };
    },

    async confirm({ matchingId, confirmationCode }) {
      return {
        kind: 'done',
        result: {
          smdpAddress: 'smdp.sandbox.simplane.example',
          matchingId,
          confirmationCodeRequired: confirmationCode !== null,
          isReleased: true,
        },
      };
    },

    release: (call) => answer(call),
    cancel: (call) => answer(call),
    suspend: (call) => answer(call),
    resume: (call) => answer(call),

    async topUp({ productId, attempt, signal }) {
      return (await sell(productId, attempt, signal)) ?? { kind: 'done', result: {} };
    },
  };

  /** Null if the product behaves. */
  async function sell(productId: string, attempt: number, signal: AbortSignal): Promise<Reply<never> | null> {
    const factor = productId === 'prod_sandbox_slow' ? slowFactor : 1;
    return (await wait(delayMs * factor, signal)) ? misbehave(productId, attempt) : timedOut();
  }

  async function answer({ signal }: Call): Promise<Reply<Record<never, never>>> {
    return (await wait(delayMs, signal)) ? { kind: 'done', result: {} } : timedOut();
  }
}

function misbehave(productId: string, attempt: number): Reply<never> | null {
  switch (productId) {
    case 'prod_sandbox_flaky':
      return attempt > 2
        ? null
        : {
            kind: 'failed',
            reason: {
              code: 'network_unavailable',
              message: 'The network answered with an error.',
              upstream: { status: '503' },
            },
          };
    case 'prod_sandbox_declined':
      return {
        kind: 'refused',
        reason: {
          code: 'declined',
          message: 'The network refuses to sell this product to this account; ask the operator to allow it.',
          upstream: { subject_code: '8.2.1', reason_code: '1.2' },
        },
      };
    case 'prod_sandbox_out_of_stock':
      return {
        kind: 'refused',
        reason: {
          code: 'out_of_stock',
          message:
            'The network has none of this product left; order another product, or this one again once it is restocked.',
          upstream: { subject_code: '8.2.5', reason_code: '3.7' },
        },
      };
    default:
      return null;
  }
}

function timedOut(): Reply<never> {
  return {
    kind: 'failed',
    reason: {
      code: 'network_unavailable',
      message: 'The network did not answer in time.',
    },
  };
}

/** False if the call was aborted first. */
async function wait(ms: number, signal: AbortSignal): Promise<boolean> {
  if (ms === 0) return !signal.aborted;
  return delay(ms, true, { signal }).catch(() => false);
}
