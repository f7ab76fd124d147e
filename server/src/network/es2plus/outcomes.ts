import type { Refusal } from '../port.ts';
import type { Why } from './client.ts';
import { type ExecutionStatus, iccid, isObject } from './fields.ts';
import type { OrderFunctionName } from './functions.ts';
import { quotePeer } from './quote-peer.ts';

/** Identifies a call, for messages and for looking it up at the SM-DP+. */
export type About = { name: OrderFunctionName; callId: string; host: string; secrets: readonly string[] };

/** `hadNoEffect`: according to its answer the SM-DP+ has done nothing. */
export type Verdict = { reason: Refusal; isTemporary: boolean; hadNoEffect: boolean };

type Meaning = { code: Refusal['code']; says: string; isTemporary?: true };

/**
 * SGP.22 §5.2.6 and the tables of §5.3: cause and remedy for the person who ordered. Keys are subject/reason; a key with
 * only a reason applies to every subject.
 */
const meanings: Record<string, Meaning> = {
  '8.2.1/3.9': {
    code: 'declined',
    says: 'The SM-DP+ does not know this ICCID; ask the operator to load the range it belongs to.',
  },
  '8.2.1/3.3': {
    code: 'state_conflict',
    says: 'The profile is not available at the SM-DP+: it is already reserved, downloaded or canceled. Order another eSIM.',
  },
  '8.2.1/3.5': {
    code: 'state_conflict',
    says: 'The profile cannot be released in its current state at the SM-DP+. Order another eSIM.',
  },
  '8.2.1/1.2': {
    code: 'declined',
    says: 'The SM-DP+ does not allow us to use this profile; ask the operator to allow our requester identifier for it.',
  },
  '8.2.5/3.7': {
    code: 'out_of_stock',
    says: 'The SM-DP+ has no profiles of this type left; order another product, or this one again once it is restocked.',
  },
  '8.2.5/3.9': {
    code: 'declined',
    says: 'The SM-DP+ does not know the product’s profile type; ask the operator to correct it in the catalog.',
  },
  '8.2.5/1.2': {
    code: 'declined',
    says: 'The SM-DP+ does not allow us to use this profile type; ask the operator to allow our requester identifier for it.',
  },
  '8.2.5/3.8': {
    code: 'declined',
    says: 'The profile with this ICCID has another type than the product; ask the operator to correct the catalog.',
  },
  '8.2.6/3.3': {
    code: 'state_conflict',
    says: 'The matching id is in use at the SM-DP+ for another profile; order again to get a new one.',
  },
  '8.2.6/3.10': {
    code: 'state_conflict',
    says: 'The profile is bound to another matching id at the SM-DP+; someone else has confirmed it. Order another eSIM.',
  },
  '8.1.1/2.2': {
    code: 'declined',
    says: 'The SM-DP+ requires the device’s EID for this profile; order again with `eid`.',
  },
  '8.1.1/3.9': {
    code: 'declined',
    says: 'The SM-DP+ does not know a device with this EID; check it, or order without `eid`.',
  },
  '8.1.1/3.10': {
    code: 'state_conflict',
    says: 'The profile is bound to another EID at the SM-DP+; order another eSIM for this device.',
  },
  '8.1.1/3.8': {
    code: 'declined',
    says: 'The SM-DP+ refuses this EID; check that it is the device’s EID, or order without `eid`.',
  },
  '4.2': { code: 'network_unavailable', says: 'The SM-DP+ could not execute the call.', isTemporary: true },
  '4.10': { code: 'network_unavailable', says: 'The SM-DP+ did not finish in time.', isTemporary: true },
  '5.1': {
    code: 'network_unavailable',
    says: 'The SM-DP+ could not reach a system behind it.',
    isTemporary: true,
  },
};

/** Translates a `Failed` or `Expired`. Unknown codes are refusals, since a retry is unlikely to help. */
export function judgeStatus({ status, statusCodeData }: ExecutionStatus, about: About): Verdict {
  const { subjectCode = '', reasonCode = '' } = statusCodeData ?? {};
  const meaning = meanings[`${subjectCode}/${reasonCode}`] ?? meanings[reasonCode];
  const upstream = {
    ...upstreamOf(about),
    ...(subjectCode && { subject_code: subjectCode }),
    ...(reasonCode && { reason_code: reasonCode }),
    ...quotePeer(
      { subject_identifier: statusCodeData?.subjectIdentifier, message: statusCodeData?.message },
      about.secrets,
    ),
  };
  if (status === 'Expired') {
    const reason: Refusal = {
      code: 'network_unavailable',
      message: 'The call expired at the SM-DP+.',
      host: about.host,
      upstream,
    };
    return { reason, isTemporary: true, hadNoEffect: false };
  }
  if (meaning) {
    const { code, says, isTemporary = false } = meaning;
    return {
      reason: { code, message: says, host: about.host, upstream },
      isTemporary,
      hadNoEffect: !isTimeout(reasonCode),
    };
  }
  const codes = subjectCode
    ? ` with the codes ${subjectCode}/${reasonCode} (SGP.22 §5.2.6)`
    : ' without a reason';
  const message = `The SM-DP+ refused ${about.name}${codes}; give the operator these codes.`;
  const reason: Refusal = { code: 'declined', message, host: about.host, upstream };
  return { reason, isTemporary: false, hadNoEffect: true };
}

/** Like `Expired`, and unlike any other `Failed`, a timeout does not tell whether the call had an effect. */
function isTimeout(reasonCode: string): boolean {
  return reasonCode === '4.10';
}

type Failure = { why: Why; error: string } | { status: number } | { unreadable: string; json: unknown };

/** For calls without a usable answer. The account that ordered learns neither host nor settings; `detail` has them. */
export function describeFailure(failure: Failure, about: About): Refusal {
  const { message, forOperator = '', upstream } = wordsFor(failure, about);
  return {
    code: 'network_unavailable',
    message,
    detail: `${about.host}: ${message}${forOperator}`,
    host: about.host,
    upstream: { ...upstreamOf(about), ...upstream },
  };
}

/** `forOperator` follows the message: what to set, and the cause in detail. */
type Words = { message: string; forOperator?: string; upstream?: Record<string, string> };

function wordsFor(failure: Failure, { secrets }: About): Words {
  if ('why' in failure) {
    const { says, remedy } = troubles[failure.why];
    return { message: `${says}.`, forOperator: `${remedyAfter(remedy)} (${failure.error})` };
  }
  if ('status' in failure) {
    const { status } = failure;
    const trouble = troubleOf(status);
    return {
      message: `The SM-DP+ answered with HTTP ${status}${trouble ? `: ${trouble.says}` : ''}.`,
      forOperator: remedyAfter(trouble?.remedy),
      upstream: { status: String(status) },
    };
  }
  return {
    message: `The SM-DP+ sent an answer that violates SGP.22: ${failure.unreadable}.`,
    upstream: quotePeer({ iccid: quoteIccid(failure.json) }, secrets),
  };
}

function remedyAfter(remedy: string | undefined): string {
  return remedy === undefined ? '' : ` What to do: ${remedy}.`;
}

/** What an unusable answer has as the ICCID, so that the operator can look it up. */
function quoteIccid(json: unknown): string | undefined {
  const sent = isObject(json) ? json['iccid'] : undefined;
  if (typeof sent === 'number') return `${sent} (rounded, since it was sent as a number)`;
  return iccid.read(sent) ?? (typeof sent === 'string' ? sent : undefined);
}

/**
 * The SM-DP+ may have reserved a profile that we cannot identify, and a retry could reserve a second one. An ICCID in its answer
 * is kept for the operator, however useless to us.
 */
export function outcomeUnknown(
  about: About,
  {
    message: cause,
    detail: operatorsCause = cause,
    upstream,
  }: Pick<Refusal, 'message' | 'detail' | 'upstream'>,
): Refusal {
  const sent = upstream?.['iccid'];
  const named = sent === undefined ? '' : ` Its answer had the ICCID ${sent}.`;
  const consequence =
    `${named} It is unknown whether the SM-DP+ has reserved a profile. The order was not retried, since that could reserve a ` +
    `second one. The operator should look up the function call identifier ${about.callId} at the SM-DP+`;
  return {
    code: 'outcome_unknown',
    message: `${cause}${consequence}; then the operator can continue the order with that profile, or you order again.`,
    detail: `${operatorsCause}${consequence} (${about.host}) and resolve the execution.`,
    host: about.host,
    upstream: { ...upstreamOf(about), ...(sent !== undefined && { iccid: sent }) },
  };
}

/** The profile is reserved and its ICCID known, so it can be canceled. */
export function wrongCheckDigit(about: About, reserved: string): Refusal {
  return {
    code: 'declined',
    message:
      `The SM-DP+ reserved a profile whose ICCID ${reserved} has no valid check digit, so the order has failed and the ` +
      'profile is being canceled. Ask the operator to correct the ICCIDs at the SM-DP+ or to accept them, then order again.',
    host: about.host,
    upstream: { ...upstreamOf(about), iccid: reserved },
  };
}

/** Bad gateway, unavailable, gateway timeout (RFC 9110 §15.6): what gateways answer while the SM-DP+ restarts. */
export function isGatewayError(status: number): boolean {
  return status >= 502 && status <= 504;
}

/** What the operator can do about a call without a usable answer, with the setting to change; null if that depends. */
export function describeRemedy(why: Why | { status: number }): string | null {
  return (typeof why === 'string' ? troubles[why] : troubleOf(why.status))?.remedy ?? null;
}

type Trouble = { says: string; remedy?: string };

const troubles: Record<Why, Trouble> = {
  timeout: { says: 'The SM-DP+ did not answer in time' },
  connection: {
    says: 'The connection to the SM-DP+ failed',
    remedy: 'check SIMPLANE_ES2_URL, and whether this machine reaches it',
  },
  'peer-certificate': {
    says: 'The certificate of the SM-DP+ is invalid: expired, for another name or from an authority we do not trust. The operator must correct this',
    remedy: 'check the certificate, and SIMPLANE_ES2_CA',
  },
  'own-certificate': {
    says: 'The SM-DP+ rejected our certificate. The operator must have it allowed there',
    remedy: 'check SIMPLANE_ES2_CERT, and have it allowed at the SM-DP+',
  },
  'too-large': { says: 'The SM-DP+ sent an answer that is too large for ES2+' },
  'not-json': { says: 'The SM-DP+ sent an answer that is not JSON' },
};

function troubleOf(status: number): Trouble | null {
  if (status >= 300 && status < 400) {
    return {
      says: 'a redirect, which is never followed; the operator must correct the address',
      remedy: 'correct SIMPLANE_ES2_URL',
    };
  }
  if (status === 401 || status === 403) {
    return {
      says: 'we are not authorized; the operator must have our certificate allowed at the SM-DP+',
      remedy: 'have the certificate in SIMPLANE_ES2_CERT allowed at the SM-DP+',
    };
  }
  if (status !== 404) return null;
  return {
    says: 'no ES2+ at this address; the operator must correct it',
    remedy: 'correct SIMPLANE_ES2_URL',
  };
}

function upstreamOf({ name, callId }: About): Record<string, string> {
  return { function: name, function_call_identifier: callId };
}
