import { rulesOf } from '../../src/background/retention/rules.ts';
import { sweep } from '../../src/background/retention/sweep.ts';
import type { TestService } from './service.ts';

const day = 86_400_000;

/** Removes what is older than its retention (by default 30 days, and 35 for usage), from all tables or these. Returns how many rows. */
export function removeOld(
  { db, clock }: Pick<TestService, 'db'> & { clock: { nowMs(): number } },
  options: { retentionMs?: number; usageMaxAgeMs?: number; tables?: string[]; stopping?: AbortSignal } = {},
): Promise<number> {
  const { retentionMs = 30 * day, usageMaxAgeMs = 35 * day, tables, stopping } = options;
  const rules = rulesOf({ retentionMs, usageMaxAgeMs });
  return sweep(
    db,
    clock,
    rules.filter(({ table }) => tables?.includes(table) ?? true),
    stopping,
  );
}
