import { isIccid } from '@simplane/contract';
import { type AppError, conflict, invalid } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Keyring } from '../../platform/secrets/keyring.ts';
import { orderMatchingIdPlace } from '../../platform/secrets/sealed-places.ts';
import { newMatchingId } from './activation-code.ts';
import type { Progress } from './reservation.ts';
import { findIccidsInUse } from './sql/iccids.ts';

/**
 * The progress of a new order that goes on with a profile which the network has reserved for an earlier one: it is confirmed, and
 * never ordered.
 */
export function adoptedProgress(
  keyring: Keyring,
  order: { accountUuid: string; executionUuid: string; earlier: Record<string, unknown> },
): Progress {
  const { profile_type } = order.earlier as Progress;
  return {
    matching_id: keyring.seal(newMatchingId(), orderMatchingIdPlace(order.accountUuid, order.executionUuid)),
    ...(profile_type !== undefined && { profile_type }),
    is_ordered: true,
    is_reserved: true,
    is_adopted: true,
  };
}

/**
 * Throws unless an operator's ICCID can be that of a profile which the network reserved for a lost order. `answered` is the
 * ICCID in the network's answer, if there was one: it may lack a check digit, as some networks' do.
 */
export async function requireLostIccid(
  tx: Queryable,
  iccid: string,
  { answered, requiresCheckDigit }: { answered: string | undefined; requiresCheckDigit: boolean },
): Promise<void> {
  if (requiresCheckDigit && iccid !== answered && !isIccid(iccid)) {
    throw invalid(
      'iccid',
      'iccid has a wrong check digit: at least one of its digits is wrong. If your SM-DP+ assigns ICCIDs without one, set SIMPLANE_ES2_ICCID_CHECK=none, then resolve the execution again.',
    );
  }
  if ((await findIccidsInUse(tx, [iccid])).has(iccid)) throw iccidInUse(iccid);
}

export function iccidInUse(iccid: string): AppError {
  return conflict(
    `An eSIM, an order or another resolution already has the ICCID ${iccid}. Look up the execution’s call id at the network again.`,
    'iccid',
  );
}
