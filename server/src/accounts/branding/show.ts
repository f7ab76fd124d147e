import { defaultColor, type PageLanguage } from '@simplane/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { findShownBranding } from './sql.ts';
import { textColorOn } from './text-color.ts';

/** What a page shows of the seller. */
export type Brand = {
  name: string;
  /** `#rrggbb`, with a text color that can be read on it. */
  color: string;
  textColor: string;
  hasLogo: boolean;
  supportUrl: string | null;
  topUpUrl: string | null;
  apn: string | null;
  /** A sentence of the seller, in the page's language. */
  message: string | null;
};

export async function readBrand(
  db: Queryable,
  account: { uuid: string; name: string },
  language: PageLanguage,
): Promise<Brand> {
  const chosen = await findShownBranding(db, account.uuid);
  const color = chosen?.color ?? defaultColor;
  return {
    name: chosen?.name ?? account.name,
    color,
    textColor: textColorOn(color),
    hasLogo: chosen?.has_logo ?? false,
    supportUrl: chosen?.support_url ?? null,
    topUpUrl: chosen?.top_up_url ?? null,
    apn: chosen?.apn ?? null,
    message: chosen?.messages[language] ?? null,
  };
}

/** PNG. Null if the account has none. */
export { findLogo as readLogo } from './sql.ts';
