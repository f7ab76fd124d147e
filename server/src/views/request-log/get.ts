import { type InputFor, idPrefixes, type RequestLogEntry } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { AppError } from '../../platform/app-error.ts';
import { uuidOfId } from '../../platform/ids/uuid.ts';
import { clip } from '../../platform/telemetry/clip.ts';
import { presentRequest } from './present.ts';
import { findLine } from './sql.ts';

export async function getRequest(ctx: Context, { params }: InputFor<'getRequest'>): Promise<RequestLogEntry> {
  const uuid = uuidOfId(idPrefixes.request, params.id);
  const row = uuid && (await findLine(ctx.db, ctx.account.uuid, uuid));
  if (!row) throw noSuchRequest(params.id);
  return presentRequest(row);
}

function noSuchRequest(id: string): AppError {
  return new AppError(
    'resource_missing',
    `The request log has no request "${clip(id)}". A request appears within a second and is kept for seven days; a live ` +
      'deployment may log only those that failed.',
    { param: 'id' },
  );
}
