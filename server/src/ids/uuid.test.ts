import { encodeId, idPrefixes } from '@simplane/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idOfUuid, uuidOfId } from './uuid.ts';

test('an id is the same from a uuid in any of its spellings, and leads back to it', () => {
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
