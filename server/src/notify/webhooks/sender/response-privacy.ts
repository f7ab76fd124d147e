import { classify } from '../guard/address-ranges.ts';
import { memoizeBounded } from './memoize-bounded.ts';

/**
 * Whether an endpoint's owner may see responses from this address. Internal addresses are excluded, so webhooks cannot be used to
 * read internal services. Cached, because classifying an address takes 5 µs and every delivery needs it.
 */
export const mayShowResponse = memoizeBounded((address) => classify(address).class === 'public');
