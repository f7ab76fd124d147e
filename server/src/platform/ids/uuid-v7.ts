import type { Clock } from '../clock.ts';
import { createRandomPool } from './random-pool.ts';

export type NewUuid = () => Buffer;

/** What making something new takes. */
export type TimeAndIds = { clock: Clock; newUuid: NewUuid };

/**
 * UUIDv7 (RFC 9562 §5.7, with the counter of §6.2 method 1): ids of one process are strictly ascending,
 * even within a millisecond and if the clock steps back.
 */
export function createUuidV7(clock: Clock): NewUuid {
  const random = createRandomPool();
  let lastMs = 0;
  let counter = 0;

  return () => {
    const bits = random(10);
    const nowMs = clock.nowMs();
    if (nowMs > lastMs) {
      lastMs = nowMs;
      counter = bits.readUInt16BE() & 0x7ff; // leaves half the range for counting up
    } else if (++counter > 0xfff) {
      lastMs += 1;
      counter = 0;
    }
    const uuid = Buffer.allocUnsafe(16);
    uuid.writeUIntBE(lastMs, 0, 6);
    uuid.writeUInt16BE(0x7000 | counter, 6);
    bits.copy(uuid, 8, 2);
    uuid[8] = 0x80 | ((uuid[8] as number) & 0x3f);
    return uuid;
  };
}
