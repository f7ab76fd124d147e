import { randomFillSync } from 'node:crypto';
import type { Clock } from './clock.ts';

export type NewUuid = () => Buffer;

// One call into the random generator fills 256 ids' worth: a call an id cost more than the rest of the id together.
const poolBytes = 256 * 10;

/**
 * UUIDv7 (RFC 9562 §5.7, with the counter of §6.2 method 1): ids of one process are strictly ascending,
 * also within a millisecond and when the clock steps back.
 */
export function createUuidV7(clock: Clock): NewUuid {
  const pool = Buffer.allocUnsafe(poolBytes);
  let used = poolBytes;
  let lastMs = 0;
  let counter = 0;

  return () => {
    if (used === poolBytes) {
      randomFillSync(pool);
      used = 0;
    }
    const nowMs = clock.nowMs();
    if (nowMs > lastMs) {
      lastMs = nowMs;
      counter = pool.readUInt16BE(used) & 0x7ff; // half the room is left for counting up
    } else if (++counter > 0xfff) {
      lastMs += 1;
      counter = 0;
    }
    const uuid = Buffer.allocUnsafe(16);
    uuid.writeUIntBE(lastMs, 0, 6);
    uuid.writeUInt16BE(0x7000 | counter, 6);
    pool.copy(uuid, 8, used + 2, used + 10);
    uuid[8] = 0x80 | ((uuid[8] as number) & 0x3f);
    used += 10;
    return uuid;
  };
}
