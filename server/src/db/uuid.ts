import { decodeId, encodeId, type IdPrefix } from '@simplane/contract';

/** A uuid as PostgreSQL reads it; dashes are optional there. */
export function uuidText(uuid: Uint8Array): string {
  return Buffer.from(uuid.buffer, uuid.byteOffset, uuid.byteLength).toString('hex');
}

/** The uuid behind an id, or null: text that is no id of this kind names nothing. */
export function uuidOfId(prefix: IdPrefix, id: string): string | null {
  const uuid = decodeId(prefix, id);
  return uuid && uuidText(uuid);
}

export function idOfUuid(prefix: IdPrefix, uuid: string): string {
  return encodeId(prefix, Buffer.from(uuid.replaceAll('-', ''), 'hex'));
}
