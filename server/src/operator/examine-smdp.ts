import type { Config } from '../config/settings.ts';
import { dayOf } from '../network/es2plus/certificates.ts';
import { checkConnection } from '../network/es2plus/check-connection.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { readEs2Settings, readListenerSettings, soonMs } from './live-network.ts';

/** The connection to the SM-DP+, in both directions, and when the certificates on it end. */
export async function examineSmdp(config: Config): Promise<Finding[]> {
  if (config.mode !== 'live') return [];
  return [...(await examineClient(config)), ...(await examineListener(config))];
}

async function examineClient(config: Config): Promise<Finding[]> {
  try {
    const settings = await readEs2Settings(config);
    if (!settings) {
      return [
        warning('smdp', 'SIMPLANE_ES2_URL is not set, so orders stay queued; docs/connect-your-smdp.md'),
      ];
    }
    const own = endOf('smdp certificate', `ours in ${config.es2Cert}`, settings.identity.endsAt);
    const check = await checkConnection({ ...settings, timeoutMs: config.networkTimeoutMs });
    if (check.kind === 'failed') return [own, problem('smdp', check.says)];
    const { host } = new URL(settings.url);
    return [
      own,
      ok('smdp', `${host} accepts our certificate (${check.protocol})`),
      endOf('smdp peer', `that of ${host}`, check.peerEndsAt),
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
        warning('smdp listener', 'SIMPLANE_ES2_LISTEN_PORT is not set: downloads and installs are not seen'),
      ];
    }
    return [endOf('smdp listener', `that of port ${settings.port}`, settings.identity.endsAt)];
  } catch (error) {
    return [problem('smdp listener', (error as Error).message)];
  }
}

function endOf(check: string, whose: string, endsAt: Date): Finding {
  const isSoon = endsAt.getTime() - Date.now() < soonMs;
  const says = `certificate, ${whose}, ends on ${dayOf(endsAt)}`;
  return isSoon ? warning(check, `${says}; replace it in time`) : ok(check, says);
}
