import type { Logger } from 'pino';
import type { Config } from '../config/settings.ts';
import { dayOf, type Identity, readAuthorities, readIdentity } from '../network/es2plus/certificates.ts';
import { createEs2Client } from '../network/es2plus/client.ts';
import { createEs2Network } from '../network/es2plus/es2-network.ts';
import { createEs2Listener, type NotificationOutcome } from '../network/es2plus/listener.ts';
import type { Network, ObservationSource } from '../network/port.ts';

type Commands = Pick<Network, 'suspend' | 'resume'>;
type Live = { network: Network | null; observations: ObservationSource | null; close(): Promise<void> };

/** Connects to the operator's SM-DP+. Throws an error that names the file if one is missing or invalid. */
export async function openLiveNetwork(config: Config, log: Logger, commands: Commands): Promise<Live> {
  const observations = config.role === 'worker' ? null : await openListener(config, log);
  // An `api` process never calls the SM-DP+, so it does not load the client key: that limits who can leak it.
  const settings = config.role === 'api' ? null : await readEs2Settings(config);
  if (!settings) return { network: null, observations, close: async () => {} };
  warnOfExpiry(log, settings.identity, 'SIMPLANE_ES2_CERT');
  const client = createEs2Client({
    url: settings.url,
    tls: settings.tls,
    protocolVersion: config.es2ProtocolVersion,
    connectTimeoutMs: Math.min(5_000, Math.ceil(config.networkTimeoutMs / 2)),
  });
  const network = createEs2Network({
    client,
    requesterId: config.es2RequesterId as string,
    iccids: config.iccidRanges === null ? 'theirs' : 'ours',
    recognisesCalls: config.es2Repeats === 'call-id',
    releasesOnConfirm: config.es2Release === 'with-confirm',
    padsIccids: config.es2IccidPadding === 'F',
    requiresCheckDigit: config.es2IccidCheck === 'luhn',
    smdpAddress: config.es2SmdpAddress ?? new URL(settings.url).hostname,
    commands,
    onTrouble: (details) => log.warn(details, 'the SM-DP+ did not carry out a request'),
  });
  return { network, observations, close: () => client.close() };
}

/** Reads and checks the settings and files for calling the SM-DP+; null if it is not configured. */
export async function readEs2Settings({ es2Url, es2Cert, es2Key, es2Ca }: Config) {
  if (es2Url === null) return null;
  const identity = await readIdentity(
    { setting: 'SIMPLANE_ES2_CERT', path: es2Cert as string },
    { setting: 'SIMPLANE_ES2_KEY', path: es2Key as string },
  );
  const ca = es2Ca === null ? null : await readAuthorities({ setting: 'SIMPLANE_ES2_CA', path: es2Ca });
  return { url: es2Url, identity, tls: { cert: identity.cert, key: identity.key, ca } };
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
    tls: { cert: identity.cert, key: identity.key, clientCa },
  };
}

async function openListener(config: Config, log: Logger): Promise<ObservationSource | null> {
  const settings = await readListenerSettings(config);
  if (!settings) return null;
  warnOfExpiry(log, settings.identity, 'SIMPLANE_ES2_LISTEN_CERT');
  return createEs2Listener({
    ...settings,
    protocolVersion: config.es2ProtocolVersion,
    notificationMap: config.es2NotificationMap,
    now: () => new Date(),
    onEvent: (outcome, details) =>
      log[levels[outcome]]({ outcome, ...details }, 'notification from the SM-DP+'),
    onListening: (port) => log.info({ host: settings.host, port }, 'listening for SM-DP+ notifications'),
  });
}

const levels: Record<NotificationOutcome, 'info' | 'warn'> = {
  applied: 'info',
  ignored: 'info',
  unknown_iccid: 'warn',
  malformed: 'warn',
  failed: 'warn',
  turned_away: 'warn',
};

export const expiryWarningMs = 30 * 86_400_000;

function warnOfExpiry(log: Logger, { endsAt }: Identity, setting: string): void {
  if (endsAt.getTime() - Date.now() >= expiryWarningMs) return;
  log.warn({ setting, ends: dayOf(endsAt) }, 'a certificate expires soon; replace it and restart');
}
