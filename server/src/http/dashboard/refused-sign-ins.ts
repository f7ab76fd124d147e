import type { FastifyRequest } from 'fastify';
import { recordAudit } from '../../accounts/audit/record.ts';
import type { KnownKey } from '../../accounts/key-directory.ts';
import type { Service } from '../../background/service.ts';
import { AppError } from '../../platform/app-error.ts';
import { createTokenBuckets, takeToken } from '../token-buckets.ts';
import { networkOf } from '../unknown-key-limit.ts';

// Entries an hour and process. Strangers choose how often they try, so what they fill is bounded; the metric counts all.
const perKey = 10;
const perNetwork = 1;
const ofStrangers = 60;
const maxBuckets = 10_000;

export type NoteRefusal = (request: FastifyRequest, error: unknown, known: KnownKey | null) => Promise<void>;

/**
 * Returns a function that notes a refused sign-in. One with a key that exists but does not work is in the audit log of its account;
 * others are in the operator's.
 */
export function createRefusedSignIns(
  service: Service,
  monotonicMs: () => number = () => performance.now(),
): NoteRefusal {
  const hourly = (burst: number) =>
    createTokenBuckets({ perSecond: burst / 3_600, burst, limit: maxBuckets, monotonicMs });
  const [ofKey, ofNetwork, ofAll] = [hourly(perKey), hourly(perNetwork), hourly(ofStrangers)];

  return async (request, error, known) => {
    if (!(error instanceof AppError) || (error.status !== 401 && error.status !== 429)) return;
    service.metrics.signInsRefused.inc({ reason: error.code });
    const isNoted = known
      ? takeToken(ofKey(known.apiKey.uuid))
      : error.status === 401 && takeToken(ofNetwork(networkOf(request.ip))) && takeToken(ofAll(''));
    if (isNoted) await record(service, request, error, known);
  };
}

async function record(
  { db, clock, newUuid, log }: Service,
  { id: requestId, ip }: FastifyRequest,
  { code }: AppError,
  known: KnownKey | null,
): Promise<void> {
  await recordAudit(
    db,
    { clock, newUuid, requestId, ip, apiKey: known?.apiKey ?? null },
    {
      accountUuid: known?.account?.uuid ?? null,
      action: 'session.refused',
      target: known ? { type: 'api_key', id: known.apiKey.id } : { type: 'deployment', id: 'dashboard' },
      changes: { reason: code },
    },
  ).catch((error: Error) => log.warn({ error: error.message }, 'a refused sign-in was not recorded'));
}
