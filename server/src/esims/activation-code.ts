import { createRandomPool } from '../ids/random-pool.ts';

type Parts = { smdpAddress: string; matchingId: string; confirmationCodeRequired: boolean };

type Activation = {
  activationCode: string;
  lpa: string;
  iosInstallUrl: string;
  androidInstallUrl: string;
};

/** Everything that lets a device fetch the profile, in the forms that people and devices take it in. */
export function describeActivation(parts: Parts): Activation {
  const activationCode = activationCodeOf(parts);
  const lpa = `LPA:${activationCode}`; // what a QR code holds (SGP.22 §4.1)
  return {
    activationCode,
    lpa,
    iosInstallUrl: installUrl('esimsetup.apple.com', lpa),
    androidInstallUrl: installUrl('esimsetup.android.com', lpa),
  };
}

/**
 * Hard to guess: who knows it can take the profile. 100 random bits in four groups that survive being read aloud, within
 * the `[-0-9A-Z]` that SGP.22 §4.1 allows.
 */
export function newMatchingId(random: (count: number) => Uint8Array = randomBytes): string {
  let text = '';
  for (const [index, byte] of random(20).entries()) {
    if (index > 0 && index % 5 === 0) text += '-';
    text += crockford.charAt(byte & 31);
  }
  return text;
}

const randomBytes = createRandomPool();

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * `1$<SM-DP+ address>$<MatchingID>[$<SM-DP+ OID>][$<confirmation code required>]` (SGP.22 §4.1). We never know an OID, so
 * its place stays empty before the flag. Letters keep the network's case: devices compare the matching id as it is.
 */
function activationCodeOf({ smdpAddress, matchingId, confirmationCodeRequired }: Parts): string {
  // A `$` in a part would silently make another code of it; the values themselves stay out of the error.
  if (!/^[-.:0-9A-Za-z]+$/.test(smdpAddress)) throw new Error('the SM-DP+ address is not a host name');
  if (!/^[-0-9A-Za-z]+$/.test(matchingId)) throw new Error('the matching id has characters it may not have');
  return `1$${smdpAddress}$${matchingId}${confirmationCodeRequired ? '$$1' : ''}`;
}

/**
 * Not percent-encoded: `:` and `$` may stand in a query as they are (RFC 3986 §3.4), this is how Apple and carriers write the
 * link, and a handler that decodes and one that does not read the same. No part has a character that needs encoding.
 */
function installUrl(host: string, lpa: string): string {
  return `https://${host}/esim_qrcode_provisioning?carddata=${lpa}`;
}
