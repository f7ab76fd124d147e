import { encodeId, idPrefixes } from '@simplane/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idOfUuid, uuidOfId, writeUuid } from './uuid.ts';

test('every spelling of a uuid gives the same id, which decodes to that uuid', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.boolean(), fc.boolean(), (uuid, hasDashes, isUpper) => {
      const bare = uuid.replaceAll('-', '');
      const dashed = hasDashes ? uuid : bare;
      const id = idOfUuid(idPrefixes.delivery, isUpper ? dashed.toUpperCase() : dashed);
      expect(id).toBe(encodeId(idPrefixes.delivery, Buffer.from(bare, 'hex')));
      expect(uuidOfId(idPrefixes.delivery, id)).toBe(bare);
    }),
  );
});

test('a text of another length is no uuid', () => {
  const uuid = '0190a1b2-c3d4-7abc-8def-0123456789ab';
  for (const text of ['', uuid.slice(0, -2), `${uuid}00`]) {
    expect(() => writeUuid(new Uint8Array(32), text, 0)).toThrow('32 digits');
  }
});
