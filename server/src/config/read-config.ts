import { resolve } from 'node:path';
import { ConfigError } from '../platform/app-error.ts';
import { refuseContradictions } from './contradictions.ts';
import { executionRetryDefaults } from './order-settings.ts';
import { type RetiredValues, retiredSettings } from './retired-settings.ts';
import { type Config, settings, type Values } from './settings.ts';
import { duration, durations, type Kind } from './values.ts';
import { webhookDefaults } from './webhook-settings.ts';

/** The only place that reads the environment. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): { config: Config; warnings: string[] } {
  const values = Object.fromEntries(
    Object.entries(settings).map(([key, definition]) => [
      key,
      readSetting<unknown>(definition, env, definition.fallback),
    ]),
  ) as Values;
  const webhooks = webhookDefaults[values.mode];
  const config = {
    ...values,
    webhookRetryScheduleMs: values.webhookRetryScheduleMs ?? durations.parse(webhooks.retrySchedule),
    webhookDisableAfterMs: values.webhookDisableAfterMs ?? duration.parse(webhooks.disableAfter),
    webhookDisableMinFailures: values.webhookDisableMinFailures ?? webhooks.disableMinFailures,
    webhookEndpointLimit: values.webhookEndpointLimit ?? webhooks.endpointLimit,
    requestLogLevel: values.requestLogLevel ?? (values.mode === 'live' ? 'errors' : 'all'),
    rateLimitPerSecond: values.rateLimitPerSecond ?? (values.mode === 'live' ? 100 : 0),
    maxConnectionsPerAddress: values.maxConnectionsPerAddress ?? Math.ceil(values.maxConnections / 4),
    executionRetryScheduleMs:
      values.executionRetryScheduleMs ?? durations.parse(executionRetryDefaults[values.mode]),
    dataDir: resolve(values.dataDir),
    retired: readRetired(env),
  } as Config;
  refuseContradictions(config);
  return { config, warnings: [...retiredNames(env), ...unknownNames(env)] };
}

function readSetting<T>(
  { name, kind }: { name: string; kind: Kind<T> },
  env: NodeJS.ProcessEnv,
  fallback: string,
): T | null {
  const given = env[name] || fallback;
  if (given === '') return null;
  const value = kind.parse(given);
  if (value === undefined) {
    // These may contain a key or a password, so the error does not repeat the value.
    const shown = secretNames.has(name) ? '' : `; got "${given}"`;
    throw new ConfigError(`${name} takes ${kind.takes}${shown}`);
  }
  return value;
}

const secretNames = new Set([
  'SIMPLANE_API_KEY',
  'DATABASE_URL',
  'SIMPLANE_DATABASE_DIRECT_URL',
  'SIMPLANE_ENCRYPTION_KEYS',
  'SIMPLANE_CORE_SECRET',
  'SIMPLANE_CELLS',
]);

function readRetired(env: NodeJS.ProcessEnv): RetiredValues {
  const given = Object.entries(retiredSettings).filter(([, { name }]) => env[name]);
  return Object.fromEntries(given.map(([key, definition]) => [key, readSetting(definition, env, '')]));
}

function retiredNames(env: NodeJS.ProcessEnv): string[] {
  return Object.values(retiredSettings)
    .filter(({ name }) => env[name])
    .map(
      ({ name, instead }) =>
        `${name} is no longer a setting and will be ignored from the next release on; remove it: ${instead}`,
    );
}

function unknownNames(env: NodeJS.ProcessEnv): string[] {
  const all = [...Object.values(settings), ...Object.values(retiredSettings)];
  const known = new Set(all.map(({ name }) => name));
  return Object.keys(env)
    .filter((name) => name.startsWith('SIMPLANE_') && !known.has(name))
    .map((name) => `${name} is not a setting and is ignored; docs/configuration.md lists all of them`);
}
