import { createRandomPool } from '../../platform/ids/random-pool.ts';

type Parts = { smdpAddress: string; matchingId: string; confirmationCodeRequired: boolean };

type Activation = {
  activationCode: string;
  lpa: string;
  iosInstallUrl: string;
  androidInstallUrl: string;
};

/** The activation code and the forms of it that devices accept. */
export function describeActivation(parts: Parts): Activation {
  const activationCode = activationCodeOf(parts);
  const lpa = `LPA:${activationCode}`; // content of the QR code (SGP.22 §4.1)
  return {
    activationCode,
    lpa,
    iosInstallUrl: installUrl('esimsetup.apple.com', lpa),
    androidInstallUrl: installUrl('esimsetup.android.com', lpa),
  };
}

/**
 * Must be hard to guess: anyone who knows it can download the profile. 100 random bits in four groups that can be read
 * aloud, within the `[-0-9A-Z]` that SGP.22 §4.1 allows.
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
 * `1$<SM-DP+ address>$<MatchingID>[$<SM-DP+ OID>][$<confirmation code required>]` (SGP.22 §4.1). We never know the OID, so
 * it is empty before the flag. Letters keep the network's case: devices compare the matching id case-sensitively.
 */
function activationCodeOf({ smdpAddress, matchingId, confirmationCodeRequired }: Parts): string {
  // A `$` in a part would silently produce a different code. The errors do not contain the values: they are secret.
  if (!/^[-.:0-9A-Za-z]+$/.test(smdpAddress)) throw new Error('the SM-DP+ address is not a host name');
  if (!/^[-0-9A-Za-z]+$/.test(matchingId)) throw new Error('the matching id has invalid characters');
  return `1$${smdpAddress}$${matchingId}${confirmationCodeRequired ? '$$1' : ''}`;
}

/**
 * Not percent-encoded: a query may contain `:` and `$` (RFC 3986 §3.4), Apple and carriers write the link this way, and
 * handlers read the same text whether they decode or not. No part has a character that needs encoding.
 */
function installUrl(host: string, lpa: string): string {
  return `https://${host}/esim_qrcode_provisioning?carddata=${lpa}`;
}
