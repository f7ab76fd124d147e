import { classify } from '../guard/address-ranges.ts';

/** Whether an endpoint's owner may read what this address answers. An inner one is private: webhooks must not read it for them. */
export function mayShowResponse(address: string): boolean {
  return classify(address).class === 'public';
}
