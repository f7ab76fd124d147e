import { decodeId, idPrefixes } from '@simplane/contract';

/** The creation time in an event's id; it precedes the statement that stored the event. */
export function atMsOf(eventId: string): number {
  const uuid = decodeId(idPrefixes.event, eventId);
  return uuid ? Buffer.from(uuid).readUIntBE(0, 6) : 0;
}
