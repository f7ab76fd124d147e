import { type InputFor, installLinkLife, maxInstallLinks } from '@simplane/contract';
import { checkLink } from '../../accounts/check-link.ts';
import type { Context } from '../../accounts/context.ts';
import { hashOfToken, newToken } from '../../accounts/sessions/token.ts';
import { AppError } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { uuidText } from '../../platform/ids/uuid.ts';
import { requireInstallable } from '../esims/install.ts';
import { lockOwnEsim } from '../esims/lock.ts';
import { dataUri, drawQr } from '../esims/qr.ts';
import { presentLink } from './present.ts';
import { countLinks, deleteExpiredLinks, insertLink, type LinkRow } from './sql.ts';

type Input = InputFor<'createInstallLink'>;

/** The eSIM's lock makes creations wait for each other, so that several at once do not exceed the limit. */
export async function createInstallLink(tx: Queryable, ctx: Context, { params, body }: Input) {
  checkLink('return_url', body.return_url, ['https:']);
  const esim = await lockOwnEsim(tx, ctx.account.uuid, params.iccid);
  requireInstallable(esim.status);
  const row = newLink(ctx, esim.iccid, body);
  await deleteExpiredLinks(tx, row, row.created_at);
  if ((await countLinks(tx, row)) >= maxInstallLinks) throw limitReached();
  const token = newToken(ctx.cell);
  await insertLink(tx, row, hashOfToken(token));
  const url = `${ctx.publicUrl()}/i/${token}`;
  const { svg, png } = drawQr(url);
  const link = presentLink(row);
  return {
    body: { ...link, url, qr: { svg: dataUri(svg), png: dataUri(png) } },
    isSecret: true,
    changes: { install_link_id: link.id, expires_at: link.expires_at },
  };
}

function newLink(ctx: Context, iccid: string, body: Input['body']): LinkRow {
  const nowMs = ctx.clock.nowMs();
  return {
    account_id: ctx.account.uuid,
    id: uuidText(ctx.newUuid()),
    iccid,
    language: body.language ?? null,
    return_url: body.return_url ?? null,
    created_at: new Date(nowMs),
    expires_at: new Date(nowMs + (body.expires_in ?? installLinkLife.default) * 1_000),
    opened_at: null,
    installed_at: null,
  };
}

function limitReached(): AppError {
  return new AppError(
    'install_link_limit_reached',
    `The eSIM has ${maxInstallLinks} install links, the most it can have. Revoke one that is no longer used.`,
  );
}
