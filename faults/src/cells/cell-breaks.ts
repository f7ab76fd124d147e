import { breaks, trigger } from '../breaks/breaks.ts';
import type { CheckName } from '../checks/index.ts';

/** A guarantee broken in both cells, and the checks that report it, perhaps besides others. */
export type CellBreak = { description: string; sql: string; caughtBy: readonly CheckName[] };

/** What only a move can lose or double. */
const ofMoves: Record<string, CellBreak> = {
  'leave-keys': {
    description: 'idempotency keys do not go along with their account',
    caughtBy: ['keys-run-once'],
    sql: `${trigger('idempotency_keys', 'before insert', { body: 'return null;' })}
      alter table idempotency_keys enable replica trigger break_idempotency_keys`,
  },
  'keep-usage': {
    description: 'the old cell keeps the usage records of an account that has moved',
    caughtBy: ['usage-is-counted-once'],
    sql: trigger('usage_records', 'before delete', { body: 'return null;' }),
  },
};

/** By name: one of moves, or one that a trigger in the database makes in a single deployment too. */
export function findBreak(name: string): CellBreak | undefined {
  const known = breaks[name];
  if (!known?.sql || known.preloads || known.topology) return ofMoves[name];
  return { ...known, sql: known.sql };
}
