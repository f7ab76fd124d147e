import { orderSettings, smdpSettings } from './order-settings.ts';
import { apiSettings, monitoringSettings, processSettings } from './process-settings.ts';
import type { RetiredValues } from './retired-settings.ts';
import type { OptionalSetting, Setting } from './values.ts';
import { webhookSettings } from './webhook-settings.ts';

/** The settings by what they are for. docs/configuration.md is generated from them. */
export const settingGroups = {
  'Process and database': processSettings,
  API: apiSettings,
  'Logs and metrics': monitoringSettings,
  'Orders and the network': orderSettings,
  'SM-DP+': smdpSettings,
  Webhooks: webhookSettings,
};

export const settings = {
  ...processSettings,
  ...apiSettings,
  ...monitoringSettings,
  ...orderSettings,
  ...smdpSettings,
  ...webhookSettings,
};

export type Values = {
  [K in keyof typeof settings]: (typeof settings)[K] extends OptionalSetting<infer T>
    ? T | null
    : (typeof settings)[K] extends Setting<infer T>
      ? T
      : never;
};

/** Their defaults depend on the mode or on another setting. */
type Derived =
  | 'executionRetryScheduleMs'
  | 'maxConnectionsPerAddress'
  | 'rateLimitPerSecond'
  | 'requestLogLevel'
  | 'webhookDisableAfterMs'
  | 'webhookDisableMinFailures'
  | 'webhookEndpointLimit'
  | 'webhookRetryScheduleMs';

/** The resolved configuration. Only settings without a sensible default can be null. */
export type Config = { [K in keyof Values]: K extends Derived ? NonNullable<Values[K]> : Values[K] } & {
  retired: RetiredValues;
};
