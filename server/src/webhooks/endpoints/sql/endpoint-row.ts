export type EndpointRow = {
  id: string;
  url: string;
  enabled_event_types: string[];
  description: string | null;
  metadata: Record<string, string>;
  status: 'enabled' | 'disabled';
  disabled_reason: string | null;
  disabled_at: Date | null;
  api_version: string;
  created_at: Date;
};

export type EndpointKey = { accountUuid: string; endpointUuid: string };

export const endpointColumns = `id, url, enabled_event_types, description, metadata, status, disabled_reason, disabled_at,
  api_version, created_at`;
