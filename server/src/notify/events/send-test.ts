import type { Event, InputFor } from '@simplane/contract';
import { actorOf } from '../../accounts/audit/record.ts';
import type { Context } from '../../accounts/context.ts';
import type { GroupedWrite } from '../../accounts/write.ts';
import { AppError } from '../../platform/app-error.ts';
import { createGroupCommit, perDatabase } from '../../platform/db/group-commit.ts';
import { readStored } from '../../platform/idempotency/outcome.ts';
import { uuidText } from '../../platform/ids/uuid.ts';
import { redact } from '../../platform/telemetry/redact.ts';
import type { HandingOver } from './hand-over.ts';
import { composeEvent } from './new-event.ts';
import { type NewTestEvent, sendTestEventRows } from './sql/send-test.ts';

/** Emits a test event the same way as real events. */
export const sendTestEvent: GroupedWrite<Context & HandingOver, InputFor<'sendTestEvent'>, Event> = {
  async writeGrouped(ctx, { body: { type, data } }, { claim, render }) {
    if (ctx.mode !== 'sandbox') return { kind: 'refused', refusal: notInLive() };
    const event = composeEvent(ctx, { accountUuid: ctx.account.uuid, type, data });
    const body = JSON.parse(event.body) as Event;
    const row: NewTestEvent = {
      event,
      claim,
      answer: render({ body }),
      audit: {
        uuid: uuidText(ctx.newUuid()),
        actor: actorOf(ctx),
        eventId: body.id,
        changes: redact(JSON.stringify({ type })),
        requestId: ctx.requestId,
        ip: ctx.ip,
        via: ctx.via ?? null,
      },
    };
    for (;;) {
      const result = await writerOf(ctx.db)(row);
      switch (result.outcome) {
        case 'overtaken':
          continue;
        case 'stored':
          return readStored(result, claim);
        case 'in_progress':
          return { kind: 'in_progress' };
        case 'sent':
          ctx.handOver.announce({ ...result, event, isTest: true });
          return { kind: 'answered', answer: row.answer, replayed: false };
      }
    }
  },
};

/** Concurrent test events share one statement and one commit. */
const writerOf = perDatabase((db) =>
  createGroupCommit({ write: (rows: NewTestEvent[]) => sendTestEventRows(db, rows) }),
);

function notInLive(): AppError {
  return new AppError(
    'sandbox_only',
    'Test events are for the sandbox only; this is a live deployment. To test an endpoint here, send it a test request (probe).',
  );
}
