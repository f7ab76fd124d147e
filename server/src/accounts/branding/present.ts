import { type Branding, defaultColor } from '@simplane/contract';
import type { BrandingRow } from './sql.ts';
import { textColorOn } from './text-color.ts';

export function presentBranding(row: BrandingRow): Branding {
  return {
    object: 'branding',
    name: row.name,
    color: row.color,
    text_color: textColorOn(row.color ?? defaultColor),
    logo: row.logo && `data:image/png;base64,${row.logo.toString('base64')}`,
    support_url: row.support_url,
    top_up_url: row.top_up_url,
    apn: row.apn,
    messages: row.messages,
  };
}
