import { type InstallLink, idPrefixes } from '@simplane/contract';
import { unixSeconds } from '../../platform/clock.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import type { LinkRow } from './sql.ts';

/** Without its URL, of which only the hash is stored. */
export function presentLink(row: LinkRow): InstallLink {
  return {
    id: idOfUuid(idPrefixes.installLink, row.id),
    object: 'install_link',
    iccid: row.iccid,
    language: row.language,
    return_url: row.return_url,
    created: unixSeconds(row.created_at),
    expires_at: unixSeconds(row.expires_at),
    opened_at: row.opened_at && unixSeconds(row.opened_at),
    installed_at: row.installed_at && unixSeconds(row.installed_at),
  };
}
