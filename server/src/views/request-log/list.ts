import { type InputFor, operations } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { type AppError, invalid } from '../../platform/app-error.ts';
import { createdRangeOf } from '../../platform/lists/created-range.ts';
import { readPageById } from '../../platform/lists/read-page.ts';
import { presentRequest } from './present.ts';
import { listLines } from './sql.ts';

export async function listRequests(ctx: Context, { query }: InputFor<'listRequests'>) {
  const { status, error_code: errorCode, operation, via } = query;
  if (operation !== undefined && !Object.hasOwn(operations, operation)) throw noSuchOperation();
  const filter = { status, errorCode, operation, via, created: createdRangeOf(query) };
  return readPageById(query, {
    scope: { list: 'requests', accountId: ctx.account.id, filters: filter },
    read: (beforeUuid, count) => listLines(ctx.db, ctx.account.uuid, filter, { beforeUuid, count }),
    present: presentRequest,
  });
}

function noSuchOperation(): AppError {
  return invalid(
    'operation',
    'operation must be the id of an operation, such as createEsim; /openapi.json has them as operationId.',
  );
}
