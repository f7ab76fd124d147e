import { fqdnPattern } from '../network/fqdn.ts';
import { slowFactor } from '../network/slow-factor.ts';
import { ConfigError } from '../platform/app-error.ts';
import { parseConnectionUrl } from '../platform/db/connection-url.ts';
import { requireMode } from './cell-addresses.ts';
import { type Config, settings } from './settings.ts';

/** Rejects combinations of settings that are each valid but contradict each other. */
export function refuseContradictions(config: Config): void {
  refuseIncompleteSmdp(config);
  refuseInvalidDatabaseUrls(config);
  requireMode(config.cells ?? [], config.mode);
  if (config.mode === 'live' && config.apiKey) {
    throw new ConfigError(
      'SIMPLANE_API_KEY is for the sandbox only; in live mode create keys with `simplane-server keys create`',
    );
  }
  if (config.mode === 'live' && !config.encryptionKeys) {
    throw new ConfigError(
      'SIMPLANE_ENCRYPTION_KEYS is required in live mode to encrypt secrets at rest; generate a key with `openssl rand -base64 32`',
    );
  }
  if ((config.coreUrl === null) !== (config.coreSecret === null)) {
    throw new ConfigError(
      'SIMPLANE_CORE_URL and SIMPLANE_CORE_SECRET must be set together, because commands to the core are signed; generate a secret with `openssl rand -hex 32`',
    );
  }
  if (config.mode === 'sandbox' && config.mockDelayMs * slowFactor >= config.networkTimeoutMs) {
    throw new ConfigError(
      `SIMPLANE_MOCK_DELAY is too long: the slow product takes ${slowFactor} times as long, which must be less than SIMPLANE_NETWORK_TIMEOUT`,
    );
  }
  if (config.executionLeaseMs <= config.networkTimeoutMs) {
    throw new ConfigError(
      'SIMPLANE_EXECUTION_LEASE must be longer than SIMPLANE_NETWORK_TIMEOUT, otherwise a slow call is made twice',
    );
  }
  if (config.mode === 'live' && config.role !== 'api' && config.shutdownTimeoutMs < config.networkTimeoutMs) {
    throw new ConfigError(
      'SIMPLANE_SHUTDOWN_TIMEOUT must not be shorter than SIMPLANE_NETWORK_TIMEOUT in live mode, otherwise a restart can interrupt an order and leave its outcome unknown',
    );
  }
  if (config.role !== 'all' && !config.databaseUrl) {
    throw new ConfigError(
      `SIMPLANE_ROLE=${config.role} needs DATABASE_URL: the embedded PostgreSQL works only with one process in the role \`all\``,
    );
  }
}

function refuseInvalidDatabaseUrls(config: Config): void {
  for (const key of ['databaseUrl', 'databaseDirectUrl'] as const) {
    const url = config[key];
    try {
      if (url !== null) parseConnectionUrl(url);
    } catch (error) {
      throw new ConfigError(`${settings[key].name} ${(error as Error).message}`);
    }
  }
  if (config.databaseDirectUrl && !config.databaseUrl) {
    throw new ConfigError('SIMPLANE_DATABASE_DIRECT_URL needs DATABASE_URL as well');
  }
}

/** Reports incomplete SM-DP+ settings at startup instead of at the first order. */
function refuseIncompleteSmdp(config: Config): void {
  if (config.mode === 'sandbox' && (config.es2Url || config.es2ListenPort !== null)) {
    throw new ConfigError('SIMPLANE_ES2_… is for live mode only: a sandbox uses the mock network');
  }
  if (config.mode === 'live' && config.role === 'worker' && !config.es2Url) {
    throw new ConfigError(
      'SIMPLANE_ES2_URL is required for a worker in live mode; see docs/connect-your-smdp.md',
    );
  }
  if (config.es2Url && config.role !== 'api') {
    requireAll(config, 'SIMPLANE_ES2_URL', ['es2Cert', 'es2Key', 'es2RequesterId']);
    if (!config.es2SmdpAddress && !fqdnPattern.test(new URL(config.es2Url).hostname)) {
      throw new ConfigError(
        'SIMPLANE_ES2_SMDP_ADDRESS is required: the host of SIMPLANE_ES2_URL is not a domain name, so it cannot be used in activation codes',
      );
    }
  }
  if (config.es2ListenPort !== null) {
    requireAll(config, 'SIMPLANE_ES2_LISTEN_PORT', ['es2ListenCert', 'es2ListenKey', 'es2ListenClientCa']);
  }
}

function requireAll(config: Config, because: string, keys: (keyof typeof settings)[]): void {
  const missing = keys.filter((key) => config[key] === null).map((key) => settings[key].name);
  if (missing.length > 0) throw new ConfigError(`${because} needs ${missing.join(', ')} as well`);
}
