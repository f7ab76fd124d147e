import { idPrefixes } from '@simplane/contract';
import { idOfUuid } from '../../../platform/ids/uuid.ts';
import type { EndpointRow } from './sql/endpoints.ts';

/** What every event about an endpoint says. */
export function aboutEndpoint({ id, url }: Pick<EndpointRow, 'id' | 'url'>) {
  return { webhook_endpoint_id: idOfUuid(idPrefixes.webhookEndpoint, id), url: withoutSecrets(url) };
}

/** Drops the query and user info: they may hold tokens, which the other endpoints must not see. */
function withoutSecrets(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
