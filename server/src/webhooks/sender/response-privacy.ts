import { remember } from '../../remember.ts';
import { classify } from '../guard/address-ranges.ts';

/**
 * Remembers which hosts turned out to be inside: what those answer is not shown to an endpoint's owner, else webhooks would
 * read private services for them.
 */
export function createResponsePrivacy() {
  const hostOf = remember((url) => new URL(url).host);
  const isInside = new Map<string, boolean>();
  return {
    onConnected(host: string, address: string): void {
      isInside.set(host, classify(address).class !== 'public');
    },
    mayShowResponse: (url: string): boolean => isInside.get(hostOf(url)) === false,
  };
}
