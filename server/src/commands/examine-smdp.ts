import type { Config } from '../config/settings.ts';
import { dayOf } from '../network/es2plus/certificates.ts';
import { checkConnection } from '../network/es2plus/check-connection.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { expiryWarningMs } from './keep-certificates.ts';
import { readEs2Settings, readListenerSettings } from './live-network.ts';

/** Checks the connection to the SM-DP+ in both directions and when its certificates expire. */
export async function examineSmdp(config: Config): Promise<Finding[]> {
  if (config.mode !== 'live') return [];
  return [...(await examineClient(config)), ...(await examineListener(config))];
}

async function examineClient(config: Config): Promise<Finding[]> {
  try {
    const settings = await readEs2Settings(config);
    if (!settings) {
      return [
        warning('smdp', 'SIMPLANE_ES2_URL is not set, so orders stay queued; see docs/connect-your-smdp.md'),
      ];
    }
    const own = examineExpiry('smdp certificate', config.es2Cert as string, settings.identity.endsAt);
    const check = await checkConnection({
      ...settings,
      protocolVersion: config.es2ProtocolVersion,
      requesterId: config.es2RequesterId as string,
      padsIccids: config.es2IccidPadding === 'F',
      timeoutMs: config.networkTimeoutMs,
    });
    if (check.kind === 'failed') return [own, problem('smdp', check.says)];
    return [
      own,
      check.kind === 'ok' ? ok('smdp', check.says) : warning('smdp', check.says),
      examineExpiry('smdp peer', new URL(settings.url).host, check.peerEndsAt),
    ];
  } catch (error) {
    return [problem('smdp', (error as Error).message)];
  }
}

async function examineListener(config: Config): Promise<Finding[]> {
  try {
    const settings = await readListenerSettings(config);
    if (!settings) {
      return [
        warning('smdp listener', 'SIMPLANE_ES2_LISTEN_PORT is not set: downloads and installs are unknown'),
      ];
    }
    return [
      examineExpiry('smdp listener', `port ${settings.port}`, settings.identity.endsAt),
      examineSubjects(config),
    ];
  } catch (error) {
    return [problem('smdp listener', (error as Error).message)];
  }
}

function examineSubjects({ es2ListenSubjects: names }: Config): Finding {
  return names
    ? ok('smdp clients', `only certificates of ${names.join(', ')} are accepted`)
    : warning(
        'smdp clients',
        'every certificate of SIMPLANE_ES2_LISTEN_CLIENT_CA is accepted; list the names of your SM-DP+’s in SIMPLANE_ES2_LISTEN_SUBJECTS',
      );
}

function examineExpiry(check: string, owner: string, endsAt: Date): Finding {
  const isSoon = endsAt.getTime() - Date.now() < expiryWarningMs;
  const says = `the certificate of ${owner} expires on ${dayOf(endsAt)}`;
  return isSoon ? warning(check, `${says}; replace it before then`) : ok(check, says);
}
