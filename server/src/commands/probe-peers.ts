import { explainHandshake } from '../network/es2plus/explain-handshake.ts';
import type { PeerState } from '../network/peer-state.ts';
import { shakeHands } from '../network/shake-hands.ts';
import { every } from '../platform/worker/every.ts';

type Target = Parameters<typeof shakeHands>[0];

const probeEveryMs = 30_000;
/** A shutdown waits for a probe that has begun. */
export const probeTimeoutMs = 5_000;

/**
 * Opens a connection every 30 s, so that the operator sees without any order whether a system is reachable and when its certificate
 * ends. Nothing is sent.
 */
export function startProbe(state: PeerState, target: () => Target) {
  const probe = async () => {
    const startedMs = performance.now();
    const { url, tls, timeoutMs } = target();
    const shaken = await shakeHands({ url, timeoutMs, ...(tls && { tls }) });
    const endsAt = shaken.peer?.valid_to;
    if (endsAt) state.setPeerEnd(new Date(endsAt));
    if (shaken.kind === 'ok') state.connected(performance.now() - startedMs);
    else state.failed(explain(shaken, tls));
  };
  const first = probe();
  const probing = every(probeEveryMs, probe, () => {});
  return {
    async stop() {
      await first;
      await probing.stop();
    },
  };
}

/** The settings that an explanation names are those of the SM-DP+, which is the only one that gets a certificate of ours. */
function explain(
  { cause, peer }: { cause: string; peer: Parameters<typeof explainHandshake>[0]['peer'] },
  tls: Target['tls'],
): string {
  if (!tls) return `${cause}: no connection to SIMPLANE_CORE_URL`;
  return `${cause}: ${explainHandshake({ cause, peer: peer ?? null, hasAuthorities: tls.ca !== null })}`;
}
