import { decodeId, idPrefixes } from '@simplane/contract';

/** An event's id begins with the millisecond in which it was made, before the statement that wrote it. */
export function atMsOf(eventId: string): number {
  const uuid = decodeId(idPrefixes.event, eventId);
  return uuid ? Buffer.from(uuid).readUIntBE(0, 6) : 0;
}
