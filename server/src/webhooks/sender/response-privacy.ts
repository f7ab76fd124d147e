import { remember } from '../../remember.ts';
import { classify } from '../guard/address-ranges.ts';

/**
 * Whether an endpoint's owner may read what this address answers. An inner one is private: webhooks must not read it for them.
 * Remembered: judging an address takes 5 µs, and every delivery asks.
 */
export const mayShowResponse = remember((address) => classify(address).class === 'public');
