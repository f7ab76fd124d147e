import type { InputFor } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { readPage } from '../../../platform/lists/read-page.ts';
import { presentConsumer } from './present.ts';
import { listConsumerRows } from './sql.ts';

export function listEventConsumers(ctx: Context, { query }: InputFor<'listEventConsumers'>) {
  return readPage(query, {
    scope: { list: 'event_consumers', accountId: ctx.account.id, filters: {} },
    read: (afterName, count) => listConsumerRows(ctx.db, ctx.account.uuid, { afterName, count }),
    positionOf: (row) => row.name,
    positionPattern: /^[A-Za-z0-9_.-]+$/,
    present: (row) => presentConsumer(ctx, row),
  });
}
