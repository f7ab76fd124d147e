import type { EsimStatus } from '@simplane/contract';
import { isHere } from '../../accounts/moves/is-here.ts';
import { many, one, run } from '../../platform/db/statement.ts';

export type ClosingRow = {
  account_id: string;
  closed_at: Date;
  terminate_esims: boolean;
  after_id: string | null;
};

/** The next account whose closing is not finished, after this one in the order of ids. Skips one that another process is at. */
export const lockNextClosing = one<ClosingRow, [afterUuid: string]>('closing_lock_next')`
select closing.account_id, account.closed_at, closing.terminate_esims, closing.after_id
from account_closings closing
join accounts account on account.id = closing.account_id
where closing.finished_at is null and closing.account_id > $1 and ${isHere('closing.account_id')}
order by closing.account_id
limit 1
for update of closing skip locked`;

type Esim = { id: string; iccid: string; product_id: string; status: EsimStatus };

/** Locked in the order of ids: only the closing locks several eSIMs of a closed account, and one at a time waits for no other. */
export const lockEsimsAfter = many<Esim, [accountUuid: string, afterUuid: string, count: number]>(
  'closing_lock_esims',
)`
select id, iccid, product_id, status
from esims
where account_id = $1 and id > $2
order by id
limit $3
for update`;

type Reached = { afterUuid: string; terminations: number };

export const advanceClosing = run<[accountUuid: string, reached: Reached]>(
  'closing_advance',
  (accountUuid, { afterUuid, terminations }) => [accountUuid, afterUuid, terminations],
)`
update account_closings
set after_id = $2,
    terminations = terminations + $3
where account_id = $1`;

export const finishClosing = run<[accountUuid: string, at: Date]>('closing_finish')`
update account_closings
set finished_at = $2
where account_id = $1`;
