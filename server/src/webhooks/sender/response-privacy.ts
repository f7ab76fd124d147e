import { classify } from '../guard/address-ranges.ts';
import { memoizeBounded } from './memoize-bounded.ts';

/**
 * Whether an endpoint's owner may read what this address answers. An inner one is private: webhooks must not read it for them.
 * Remembered: judging an address takes 5 µs, and every delivery asks.
 */
export const mayShowResponse = memoizeBounded((address) => classify(address).class === 'public');
