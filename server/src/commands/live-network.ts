import type { Logger } from 'pino';
import type { Config } from '../config/settings.ts';
import { readAuthorities, readIdentity } from '../network/es2plus/certificates.ts';
import { createEs2Network } from '../network/es2plus/es2-network.ts';
import { createEs2Listener, type NotificationOutcome } from '../network/es2plus/listener.ts';
import { createRenewableClient } from '../network/es2plus/renewable-client.ts';
import { watchClient } from '../network/es2plus/watch-client.ts';
import { createPeerState, type PeerState } from '../network/peer-state.ts';
import type { Network, ObservationSource } from '../network/port.ts';
import type { Clock } from '../platform/clock.ts';
import type { CertificateEnd } from '../platform/telemetry/metrics.ts';
import { type KeptCertificates, keepCertificates } from './keep-certificates.ts';
import { probeTimeoutMs, startProbe } from './probe-peers.ts';

type Commands = Pick<Network, 'suspend' | 'resume'>;
type Live = {
  network: Network | null;
  observations: ObservationSource | null;
  /** The certificates in use and when they end. */
  certificates(): CertificateEnd[];
  /** How this process reaches the SM-DP+. */
  smdp: PeerState | null;
  /** Reads the certificate files again, as is also done every few seconds. */
  reload(): Promise<void>;
  close(): Promise<void>;
};

/** Connects to the operator's SM-DP+. Throws an error that names the file if one is missing or invalid. */
export async function openLiveNetwork(
  config: Config,
  log: Logger,
  clock: Clock,
  commands: Commands,
): Promise<Live> {
  const listener = config.role === 'worker' ? null : await openListener(config, log, clock);
  // An `api` process never calls the SM-DP+, so it does not load the client key: that limits who can leak it.
  const caller = config.role === 'api' ? null : await openCaller(config, log, commands);
  const kept = [listener?.kept, caller?.kept].filter((each) => each !== undefined);
  return {
    network: caller?.network ?? null,
    observations: listener?.observations ?? null,
    certificates: () => kept.flatMap((each) => each.ends()),
    smdp: caller?.state ?? null,
    reload: async () => void (await Promise.all(kept.map((each) => each.reload()))),
    async close() {
      await Promise.all(kept.map((each) => each.stop()));
      await caller?.close();
    },
  };
}

async function openCaller(config: Config, log: Logger, commands: Commands) {
  const settings = await readEs2Settings(config);
  if (!settings) return null;
  const { host } = new URL(settings.url);
  const state = createPeerState('smdp', host);
  const client = createRenewableClient({
    url: settings.url,
    tls: settings.tls,
    protocolVersion: config.es2ProtocolVersion,
    connectTimeoutMs: Math.min(5_000, Math.ceil(config.networkTimeoutMs / 2)),
  });
  const network = createEs2Network({
    client: watchClient(client, state),
    requesterId: config.es2RequesterId as string,
    iccids: config.iccidRanges === null ? 'theirs' : 'ours',
    recognisesCalls: config.es2Repeats === 'call-id',
    releasesOnConfirm: config.es2Release === 'with-confirm',
    padsIccids: config.es2IccidPadding === 'F',
    undoneStatuses: config.es2UndoneStatuses,
    requiresCheckDigit: config.es2IccidCheck === 'luhn',
    smdpAddress: config.es2SmdpAddress ?? new URL(settings.url).hostname,
    commands,
    onTrouble: (details) => log.warn(details, 'the SM-DP+ did not carry out a request'),
  });
  let { tls } = settings;
  const kept = keepCertificates({
    first: settings,
    paths: [config.es2Cert, config.es2Key, config.es2Ca],
    read: async () => (await readEs2Settings(config)) ?? settings,
    use({ tls: next }) {
      tls = next;
      client.renew(next);
    },
    log,
  });
  const probe = startProbe(state, () => ({ url: settings.url, tls, timeoutMs: probeTimeoutMs }));
  return {
    network,
    kept,
    state,
    async close() {
      await probe.stop();
      await client.close();
    },
  };
}

/** Reads and checks the settings and files for calling the SM-DP+; null if it is not configured. */
export async function readEs2Settings({ es2Url, es2Cert, es2Key, es2Ca }: Config) {
  if (es2Url === null) return null;
  const identity = await readIdentity(
    { setting: 'SIMPLANE_ES2_CERT', path: es2Cert as string },
    { setting: 'SIMPLANE_ES2_KEY', path: es2Key as string },
  );
  const ca = es2Ca === null ? null : await readAuthorities({ setting: 'SIMPLANE_ES2_CA', path: es2Ca });
  return {
    url: es2Url,
    identity,
    tls: { cert: identity.cert, key: identity.key, ca: ca?.pem ?? null },
    ends: [
      { setting: 'SIMPLANE_ES2_CERT', endsAt: identity.endsAt },
      ...(ca ? [{ setting: 'SIMPLANE_ES2_CA', endsAt: ca.endsAt }] : []),
    ],
  };
}

/** Reads and checks the settings and files of the notification port; null if it is not configured. */
export async function readListenerSettings(config: Config) {
  if (config.es2ListenPort === null) return null;
  const identity = await readIdentity(
    { setting: 'SIMPLANE_ES2_LISTEN_CERT', path: config.es2ListenCert as string },
    { setting: 'SIMPLANE_ES2_LISTEN_KEY', path: config.es2ListenKey as string },
  );
  const clientCa = await readAuthorities({
    setting: 'SIMPLANE_ES2_LISTEN_CLIENT_CA',
    path: config.es2ListenClientCa as string,
  });
  return {
    host: config.es2ListenHost,
    port: config.es2ListenPort,
    identity,
    tls: { cert: identity.cert, key: identity.key, clientCa: clientCa.pem },
    ends: [
      { setting: 'SIMPLANE_ES2_LISTEN_CERT', endsAt: identity.endsAt },
      { setting: 'SIMPLANE_ES2_LISTEN_CLIENT_CA', endsAt: clientCa.endsAt },
    ],
  };
}

async function openListener(
  config: Config,
  log: Logger,
  clock: Clock,
): Promise<{ observations: ObservationSource; kept: KeptCertificates } | null> {
  const settings = await readListenerSettings(config);
  if (!settings) return null;
  const observations = createEs2Listener({
    ...settings,
    subjects: config.es2ListenSubjects,
    protocolVersion: config.es2ProtocolVersion,
    notificationMap: config.es2NotificationMap,
    now: () => new Date(clock.nowMs()),
    onEvent: (outcome, details) => log[levels[outcome]]({ outcome, ...details }, says[outcome] ?? notified),
    onListening: (port) => log.info({ host: settings.host, port }, 'listening for SM-DP+ notifications'),
  });
  const kept = keepCertificates({
    first: settings,
    paths: [config.es2ListenCert, config.es2ListenKey, config.es2ListenClientCa],
    read: async () => (await readListenerSettings(config)) ?? settings,
    use: ({ tls }) => observations.renew(tls),
    log,
  });
  return { observations, kept };
}

const notified = 'notification from the SM-DP+';
const says: Partial<Record<NotificationOutcome, string>> = {
  turned_away: 'refused a connection to the port for SM-DP+ notifications',
};

const levels: Record<NotificationOutcome, 'info' | 'warn'> = {
  applied: 'info',
  ignored: 'info',
  unknown_iccid: 'warn',
  malformed: 'warn',
  failed: 'warn',
  turned_away: 'warn',
};
