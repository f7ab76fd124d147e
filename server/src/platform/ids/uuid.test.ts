import { encodeId, idPrefixes } from '@simplane/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idOfUuid, uuidOfId } from './uuid.ts';

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
