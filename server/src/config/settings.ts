import { orderSettings, smdpSettings } from './order-settings.ts';
import { apiSettings, monitoringSettings, processSettings } from './process-settings.ts';
import type { RetiredValues } from './retired-settings.ts';
import type { Setting } from './values.ts';
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
  [K in keyof typeof settings]: (typeof settings)[K] extends Setting<infer T> ? T | null : never;
};
type Optional =
  | 'databaseUrl'
  | 'databaseDirectUrl'
  | 'apiKey'
  | 'metricsPort'
  | 'publicUrl'
  | 'cell'
  | 'cells'
  | 'es2Url'
  | 'es2Cert'
  | 'es2Key'
  | 'es2Ca'
  | 'es2RequesterId'
  | 'es2SmdpAddress'
  | 'es2ListenPort'
  | 'es2ListenCert'
  | 'es2ListenKey'
  | 'es2ListenClientCa'
  | 'es2ListenSubjects'
  | 'encryptionKeys'
  | 'iccidRanges'
  | 'coreUrl'
  | 'coreSecret'
  | 'webhookAllowCidrs'
  | 'webhookDnsServers';

/** The resolved configuration. Only settings without a sensible default can be null. */
export type Config = { [K in keyof Values]: K extends Optional ? Values[K] : NonNullable<Values[K]> } & {
  retired: RetiredValues;
};
