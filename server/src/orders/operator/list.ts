import { type InputFor, idPrefixes } from '@simplane/contract';
import type { OperatorContext } from '../../accounts/context.ts';
import { uuidOfId } from '../../platform/ids/uuid.ts';
import { lowestUuid, lowestUuidAt } from '../../platform/ids/uuid-range.ts';
import { beforeFirst } from '../../platform/lists/keyset.ts';
import { readPageById } from '../../platform/lists/read-page.ts';
import { mayMatch } from '../executions/list-statement.ts';
import { presentForOperator } from './present.ts';
import { listAnyExecutions } from './sql/executions.ts';

type Query = InputFor<'listAllExecutions'>['query'];

/** Executions of all accounts, newest first. */
export function listAllExecutions(
  { db, clock }: Pick<OperatorContext, 'db' | 'clock'>,
  { query }: { query: Query },
) {
  const { status, error_code: errorCode, account_id: accountId, older_than: olderThan } = query;
  // No account has the lowest uuid.
  const accountUuid =
    accountId === undefined ? null : (uuidOfId(idPrefixes.account, accountId) ?? lowestUuid);
  const filter = { status, errorCode, accountUuid };
  const newest = olderThan === undefined ? beforeFirst : lowestUuidAt(clock.nowMs() - olderThan * 1_000);
  return readPageById(query, {
    scope: { list: 'operator_executions', accountId: '', filters: { ...filter, olderThan } },
    async read(position, count) {
      if (!mayMatch(filter)) return [];
      const beforeUuid = position !== null && position < newest ? position : newest;
      return listAnyExecutions(db, filter, { beforeUuid, count });
    },
    present: presentForOperator,
  });
}
