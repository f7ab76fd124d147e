import type { Config } from '../config/settings.ts';
import { maxRanges, type PeerReport, type ProcessReport } from '../platform/processes/report.ts';
import type { Keyring } from '../platform/secrets/keyring.ts';
import type { CertificateEnd } from '../platform/telemetry/metrics.ts';
import type { Throughput } from '../platform/telemetry/throughput.ts';

type Parts = {
  config: Config;
  keyring: Keyring;
  certificates(): CertificateEnd[];
  peers(): PeerReport[];
  isPaused(kind: 'core' | 'network'): boolean;
  throughput: Throughput;
  clockSkewMs(): number;
};

/** What this process tells the operator with its heartbeat. */
export function reportOf(parts: Parts): ProcessReport {
  const { config, keyring, certificates, peers, isPaused, throughput, clockSkewMs } = parts;
  return {
    cell: config.cell,
    encryption_keys: keyring.keyIds,
    iccid_ranges: (config.iccidRanges ?? []).slice(0, maxRanges),
    certificates: certificates().map(({ setting, endsAt }) => ({ setting, ends_at: endsAt.toISOString() })),
    throughput: throughput.read(),
    clock_skew_ms: clockSkewMs(),
    networks: peers().map((peer) => ({
      ...peer,
      paused: isPaused(peer.kind === 'core' ? 'core' : 'network'),
    })),
  };
}
