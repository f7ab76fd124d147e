import type { Simplane } from '@simplane/sdk';

/** Something that happens at a time in the past. Steps run in the order of their times. */
export type Step = { secondsAgo: number; run(): Promise<unknown> };

export function later(secondsAgo: number, run: () => Promise<unknown>): Step {
  return { secondsAgo, run };
}

/** An order whose ICCID is known once `order` has run. An order may fail: some products always do. */
export function sold(api: Simplane, productId: string, metadata: Record<string, string> = {}) {
  const sale = {
    iccid: '',
    async order(): Promise<void> {
      const { id } = await api.esims.create({ product_id: productId, metadata });
      const done = await api.executions.wait(id).catch(() => null);
      sale.iccid = done?.iccid ?? '';
    },
  };
  return sale;
}

/** Waits until what a call started has ended, so that the clock does not move meanwhile. */
export async function done(api: Simplane, call: PromiseLike<{ id: string }>): Promise<void> {
  await api.executions.wait((await call).id);
}

/** Expects a refusal. */
export async function failed(call: PromiseLike<unknown>): Promise<void> {
  const wasAccepted = await call.then(
    () => true,
    () => false,
  );
  if (wasAccepted) throw new Error('the API accepted what it should refuse');
}
