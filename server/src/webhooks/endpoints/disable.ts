import { idPrefixes } from '@simplane/contract';
import type { Queryable } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { newEvent } from '../../events/new-event.ts';
import { idOfUuid } from '../../ids/uuid.ts';
import type { NewUuid } from '../../ids/uuid-v7.ts';
import { cancelPendingDeliveries, disableEndpointRow, type EndpointPlace } from './sql.ts';

type Verdict = EndpointPlace & { reason: string; at: Date };

/**
 * Disables an endpoint that kept failing and tells the account's others, which are all that is still enabled when the
 * event is written. False: it was disabled, deleted or well again meanwhile, and nothing was changed.
 */
export async function disableEndpoint(
  tx: Queryable,
  { accountUuid, endpointUuid, reason, at }: Verdict,
  deps: { newUuid: NewUuid },
): Promise<boolean> {
  const place = { accountUuid, endpointUuid };
  const endpoint = await disableEndpointRow(tx, place, { reason, at });
  if (!endpoint) return false;
  await cancelPendingDeliveries(tx, place, at);
  const data = {
    webhook_endpoint_id: idOfUuid(idPrefixes.webhookEndpoint, endpoint.id),
    url: withoutSecrets(endpoint.url),
    disabled_reason: reason,
  };
  await emit(tx, [newEvent(deps, { accountUuid, type: 'webhook_endpoint.disabled', data })]);
  return true;
}

/** Receivers keep tokens in the query or before the host; the other endpoints have no business with them. */
function withoutSecrets(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
