import type { Branding } from '@simplane/contract';
import type { Queryable } from '../../platform/db/database.ts';
import type { Context } from '../context.ts';
import { presentBranding } from './present.ts';
import { type BrandingRow, findBranding } from './sql.ts';

export async function getBranding(ctx: Context): Promise<Branding> {
  return presentBranding(await readBranding(ctx.db, ctx.account.uuid));
}

/** The defaults if the account has chosen nothing. */
export async function readBranding(db: Queryable, accountUuid: string): Promise<BrandingRow> {
  return (
    (await findBranding(db, accountUuid)) ?? {
      account_id: accountUuid,
      name: null,
      color: null,
      logo: null,
      support_url: null,
      top_up_url: null,
      apn: null,
      messages: {},
    }
  );
}
