import type { PageLanguage } from '@simplane/contract';
import { one, run, value } from '../../platform/db/statement.ts';

/** Null fields are the defaults. */
export type BrandingRow = {
  account_id: string;
  name: string | null;
  color: string | null;
  /** PNG. */
  logo: Buffer | null;
  support_url: string | null;
  top_up_url: string | null;
  apn: string | null;
  messages: { [language in PageLanguage]?: string };
};

/** What a page needs: the browser asks for the logo itself. */
export type ShownBranding = Omit<BrandingRow, 'logo'> & { has_logo: boolean };

const shownColumns = `account_id, name, color, support_url, top_up_url, apn, messages`;

export const findBranding = one<BrandingRow, [accountUuid: string]>('branding_find')`
select ${shownColumns}, logo
from branding
where account_id = $1`;

export const findShownBranding = one<ShownBranding, [accountUuid: string]>('branding_find_shown')`
select ${shownColumns}, logo is not null as has_logo
from branding
where account_id = $1`;

export const findLogo = value<Buffer | null, [accountUuid: string]>('branding_find_logo')`
select logo
from branding
where account_id = $1`;

export const saveBranding = run<[branding: BrandingRow]>('branding_save', (branding) => [
  branding.account_id,
  branding.name,
  branding.color,
  branding.logo,
  branding.support_url,
  branding.top_up_url,
  branding.apn,
  JSON.stringify(branding.messages),
])`
insert into branding (account_id, name, color, logo, support_url, top_up_url, apn, messages)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (account_id) do update
set name = excluded.name,
    color = excluded.color,
    logo = excluded.logo,
    support_url = excluded.support_url,
    top_up_url = excluded.top_up_url,
    apn = excluded.apn,
    messages = excluded.messages`;
