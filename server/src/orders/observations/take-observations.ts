import type { InputFor, Observations, UsageOutcome, UsageRecord } from '@simplane/contract';
import type { OperatorContext } from '../../accounts/context.ts';
import type { Reply } from '../../accounts/write.ts';
import { AppError } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { countOutcomes } from './count-outcomes.ts';
import { observe } from './observe.ts';
import type { ProfileObservation } from './pass-on.ts';
import { findLeftIccids, findOwnIccids } from './sql.ts';
import { takeUsage } from './take-usage.ts';

type Body = InputFor<'takeObservations'>['body'];

/**
 * Takes what another cell was told of eSIMs that are here. Times in the future are for that cell to refuse; here they count as now.
 * Notifications have no audit entry, as those that come directly have none.
 */
export async function takeObservations(
  tx: Queryable,
  ctx: OperatorContext,
  { body }: InputFor<'takeObservations'>,
): Promise<Reply<Observations>> {
  const accounts = new Set<string>();
  const usage = body.usage_records && (await takeOwnUsage(tx, ctx, body.usage_records, accounts));
  const profile = body.profile && (await takeProfile(tx, ctx, body.profile, accounts));
  const own = (usage ?? []).filter((outcome) => outcome !== 'esim_unknown');
  return {
    body: {
      object: 'observations',
      cell: ctx.cell,
      ...(usage && { usage_records: usage }),
      ...(profile && { profile }),
    },
    changes: own.length === 0 ? null : countOutcomes(own),
    afterCommit() {
      for (const accountUuid of accounts) ctx.signals.announce('deliveries', accountUuid);
    },
  };
}

/**
 * An eSIM whose account is not here counts as unknown, although it may have a row. If it has just left, the new cell may have been asked
 * before it came, and then nobody would have it.
 */
async function takeOwnUsage(
  tx: Queryable,
  ctx: OperatorContext,
  records: readonly UsageRecord[],
  accounts: Set<string>,
): Promise<UsageOutcome[]> {
  const iccids = [...new Set(records.map(({ iccid }) => iccid))];
  const own = new Set(await findOwnIccids(tx, iccids));
  const left = new Set(own.size < iccids.length ? await findLeftIccids(tx, iccids) : []);
  const taken = await takeUsage(
    tx,
    records.filter(({ iccid }) => own.has(iccid)),
    { ofAccount: null },
    ctx,
  );
  for (const account of taken.accountsWithEvents) accounts.add(account);
  let next = 0;
  return records.map(({ iccid }) => {
    if (own.has(iccid)) return taken.outcomes[next++] as UsageOutcome;
    return left.has(iccid) ? 'esim_not_ready' : 'esim_unknown';
  });
}

async function takeProfile(
  tx: Queryable,
  ctx: OperatorContext,
  given: NonNullable<Body['profile']>,
  accounts: Set<string>,
): Promise<NonNullable<Observations['profile']>> {
  const seen = await observe(tx, observationOf(given, ctx.clock.nowMs()), ctx);
  if (seen === 'leaving') return 'esim_not_ready';
  if (typeof seen === 'string')
    return (await findLeftIccids(tx, [given.iccid])).length > 0 ? 'esim_not_ready' : 'esim_unknown';
  accounts.add(seen.account_id);
  return 'accepted';
}

/** The newest observation wins: one from a clock that is ahead would hide all later ones. */
function observationOf(given: NonNullable<Body['profile']>, nowMs: number): ProfileObservation {
  const { state, failure, at_ms: atMs, ...rest } = given;
  const seen = { kind: 'profile', ...rest, at: new Date(Math.min(atMs, nowMs)) } as const;
  if (state !== 'error') return { ...seen, state };
  if (failure) return { ...seen, state, failure };
  throw new AppError('parameter_missing', 'profile.failure is required with the state `error`.', {
    param: 'profile.failure',
  });
}
