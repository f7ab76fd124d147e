import type { ProfileError } from '@simplane/contract';
import type { ProfileFailure } from '../port.ts';
import type { ExecutionStatus } from './fields.ts';
import { quotePeer } from './quote-peer.ts';

type Meaning = { code: ProfileError['code']; says: string };

const untrusted: Meaning = {
  code: 'device_not_trusted',
  says: 'The device and the SM-DP+ could not verify each other’s certificates. The device may be a test device; ask the operator.',
};
const expired: Meaning = {
  code: 'download_expired',
  says: 'The SM-DP+ no longer offers the profile: its time or its number of attempts is used up. Terminate the eSIM and order another.',
};
const notReady: Meaning = {
  code: 'profile_not_available',
  says: 'The SM-DP+ has no such profile to download: it is not released, or another device has it. Ask the operator.',
};
const wrongCode: Meaning = {
  code: 'confirmation_code_refused',
  says: 'The confirmation code was missing or wrong. Enter the code that the eSIM was ordered with.',
};
const notEligible: Meaning = {
  code: 'device_not_eligible',
  says: 'The device cannot take this profile. Try another device, or ask the operator which devices the profile supports.',
};

/** What the SM-DP+ answers a device with (SGP.22 §5.6), as subject/reason: cause and remedy. */
const meanings: Record<string, Meaning> = {
  '8.1/4.8': {
    code: 'device_memory_full',
    says: 'The device has no memory left for another profile. Delete one that is no longer used, then try again.',
  },
  '8.1/6.1': untrusted,
  '8.1.1/3.8': {
    code: 'device_refused',
    says: 'The eSIM was ordered for another device: the EID is not the one in the order. Install it on that device.',
  },
  '8.1.2/6.1': untrusted,
  '8.1.2/6.3': untrusted,
  '8.1.3/6.1': untrusted,
  '8.1.3/6.3': untrusted,
  '8.2/1.2': notReady,
  '8.2/3.7': notReady,
  '8.2.5/4.3': notEligible,
  '8.2.6/3.8': {
    code: 'activation_code_refused',
    says: 'The SM-DP+ does not accept the activation code: it is mistyped, or a device has used it already.',
  },
  '8.2.7/2.2': wrongCode,
  '8.2.7/3.8': wrongCode,
  '8.2.7/6.4': {
    code: 'confirmation_code_refused',
    says: 'The confirmation code was wrong too often, so the SM-DP+ no longer accepts it. Terminate the eSIM and order another.',
  },
  '8.8.2/3.1': untrusted,
  '8.8.4/3.7': untrusted,
  '8.8.5/4.10': expired,
  '8.8.5/6.4': expired,
  '8.11.1/3.9': untrusted,
};

/** If the codes are missing or unknown, these standard points (SGP.22 §5.3.5) still tell what failed. */
const meaningOfPoint: Record<number, Meaning> = { 1: notEligible, 2: wrongCode };

/** Puts a failure reported at a notification point into words, and keeps its codes. */
export function describeProfileFailure(
  step: ProfileFailure['step'],
  point: number,
  { statusCodeData }: ExecutionStatus,
): ProfileFailure {
  const { subjectCode, reasonCode, message: theirs } = statusCodeData ?? {};
  const codes = subjectCode === undefined ? null : `${subjectCode}/${reasonCode}`;
  const { code, says } = meanings[codes ?? ''] ?? meaningOfPoint[point] ?? other(step);
  const upstream = {
    notification_point_id: String(point),
    ...(subjectCode !== undefined && { subject_code: subjectCode }),
    ...(reasonCode !== undefined && { reason_code: reasonCode }),
    ...quotePeer({ message: theirs }),
  };
  const message = `${says} The SM-DP+ reported ${codes ?? 'no codes'} (SGP.22 §5.2.6).`;
  return { step, error: { code, message, upstream } };
}

function other(step: ProfileFailure['step']): Meaning {
  const says = `The device could not ${step} the profile. Try again, then ask the operator with these codes.`;
  return { code: 'other', says };
}
