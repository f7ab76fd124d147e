import type { PeerKind, PeerReport } from '../platform/processes/report.ts';

export type PeerState = ReturnType<typeof createPeerState>;

// Reports are stored with every heartbeat.
const maxMessageLength = 300;

// A gateway accepts connections while the system behind it is down, so for this long only a call shows that it works again.
const gatewayErrorHoldsMs = 90_000;

/** Remembers how the last calls to a system went. */
export function createPeerState(kind: PeerKind, host: string | null, nowMs = () => performance.now()) {
  let reachable: boolean | null = null;
  let latencyMs: number | null = null;
  let triedAtMs: number | null = null;
  let lastError: { message: string; atMs: number } | null = null;
  let peerEndsAt: Date | null = null;
  let downUntilMs = 0;

  function tried(isReachable: boolean): void {
    reachable = isReachable;
    triedAtMs = nowMs();
  }

  function noteError(message: string): void {
    lastError = { message: message.slice(0, maxMessageLength), atMs: nowMs() };
  }

  return {
    /** It answered a call. `problem`: not as it should have. */
    answered(tookMs: number, problem: string | null = null): void {
      tried(true);
      downUntilMs = 0;
      latencyMs = Math.round(tookMs);
      if (problem !== null) noteError(problem);
    },
    /** It accepted a connection. */
    connected(tookMs: number): void {
      if (nowMs() < downUntilMs) return;
      tried(true);
      latencyMs = Math.round(tookMs);
    },
    /** `isGateway`: a gateway before it answered that it is down. */
    failed(problem: string, { isGateway = false } = {}): void {
      tried(false);
      downUntilMs = isGateway ? nowMs() + gatewayErrorHoldsMs : 0;
      noteError(problem);
    },
    setPeerEnd(endsAt: Date): void {
      peerEndsAt = endsAt;
    },
    report(): PeerReport {
      const ageOf = (atMs: number) => Math.round(nowMs() - atMs);
      return {
        kind,
        host,
        reachable,
        latency_ms: latencyMs,
        tried_ms_ago: triedAtMs === null ? null : ageOf(triedAtMs),
        last_error: lastError && { message: lastError.message, ms_ago: ageOf(lastError.atMs) },
        peer_ends_at: peerEndsAt?.toISOString() ?? null,
      };
    },
  };
}
