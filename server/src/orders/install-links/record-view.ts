import { idPrefixes } from '@simplane/contract';
import { recordAudit } from '../../accounts/audit/record.ts';
import type { Author } from '../../accounts/context.ts';
import { emit } from '../../notify/events/emit.ts';
import { newEvent } from '../../notify/events/new-event.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Announcing } from '../../platform/db/signals.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { type FoundLink, markOpened } from './sql.ts';

type Viewer = Author & Announcing;

/** A person opened the page: an audit entry each time and, for the first time, an event. */
export async function recordView(db: Database, viewer: Viewer, link: FoundLink): Promise<void> {
  const { account_id: accountUuid, iccid, product_id, reference } = link;
  const id = idOfUuid(idPrefixes.installLink, link.id);
  const isFirst = await db.transaction(async (tx) => {
    await recordAudit(tx, viewer, {
      accountUuid,
      action: 'install_link.viewed',
      target: { type: 'install_link', id },
      changes: { iccid },
    });
    // Most views are not the first, and need no lock. Of several first ones at once, the statement lets one pass.
    if (link.opened_at !== null) return false;
    if (!(await markOpened(tx, link, new Date(viewer.clock.nowMs())))) return false;
    const data = { iccid, product_id, install_link_id: id };
    await emit(tx, [newEvent(viewer, { accountUuid, type: 'install_link.opened', data, reference })]);
    return true;
  });
  if (isFirst) viewer.signals.announce('deliveries', accountUuid);
}
