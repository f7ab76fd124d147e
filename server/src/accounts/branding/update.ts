import type { InputFor } from '@simplane/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { changedFields, recordAudit } from '../audit/record.ts';
import { checkLink } from '../check-link.ts';
import type { Context } from '../context.ts';
import { lockAccount } from '../lock-account.ts';
import { cleanPng } from './clean-png.ts';
import { readBranding } from './get.ts';
import { presentBranding } from './present.ts';
import { type BrandingRow, saveBranding } from './sql.ts';

type Body = InputFor<'updateBranding'>['body'];

/** Changes only the given fields. */
export async function updateBranding(tx: Queryable, ctx: Context, { body }: { body: Body }) {
  checkLink('support_url', body.support_url, ['https:', 'mailto:', 'tel:']);
  checkLink('top_up_url', body.top_up_url, ['https:']);
  const logo = typeof body.logo === 'string' ? cleanPng(bytesOf(body.logo)) : body.logo;
  await lockAccount(tx, ctx.account.uuid);
  const before = await readBranding(tx, ctx.account.uuid);
  const after: BrandingRow = {
    ...before,
    ...body,
    logo: logo === undefined ? before.logo : logo,
    messages: mergeMessages(before.messages, body.messages),
  };
  await saveBranding(tx, after);
  await recordAudit(tx, ctx, {
    accountUuid: ctx.account.uuid,
    action: 'branding.updated',
    target: { type: 'account', id: ctx.account.id },
    changes: describeUpdate(before, after),
  });
  return { body: presentBranding(after), changes: null };
}

function bytesOf(dataUri: string): Buffer {
  return Buffer.from(dataUri.slice(dataUri.indexOf(',') + 1), 'base64');
}

function mergeMessages(
  before: BrandingRow['messages'],
  changes: Body['messages'] = {},
): BrandingRow['messages'] {
  const merged = Object.entries({ ...before, ...changes }).filter(([, text]) => text !== null);
  return Object.fromEntries(merged);
}

/** Of a logo only that it changed. */
function describeUpdate(before: BrandingRow, after: BrandingRow): Record<string, unknown> {
  const { logo: oldLogo, account_id: _, ...old } = before;
  const { logo: newLogo, account_id: _id, ...now } = after;
  const isSameLogo = oldLogo === newLogo || (oldLogo && newLogo && oldLogo.equals(newLogo));
  return { ...changedFields(old, now), ...(!isSameLogo && { logo: { changed: true } }) };
}
