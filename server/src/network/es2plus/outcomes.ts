import { clip } from '../../telemetry/clip.ts';
import type { Refusal } from '../port.ts';
import type { Why } from './client.ts';
import type { ExecutionStatus } from './fields.ts';
import type { OrderFunctionName } from './functions.ts';

/** What a call was, for messages and for whoever looks it up at the SM-DP+. */
export type About = { name: OrderFunctionName; callId: string; host: string; secrets: readonly string[] };

/** `hadNoEffect`: by its own word the SM-DP+ has done nothing. */
export type Verdict = { reason: Refusal; mayPass: boolean; hadNoEffect: boolean };

type Meaning = { code: Refusal['code']; says: string; mayPass?: true };

/**
 * SGP.22 §5.2.6 and the tables of §5.3: cause and remedy for the person who ordered. Keys are subject/reason; a reason
 * alone stands for every subject.
 */
const meanings: Record<string, Meaning> = {
  '8.2.1/3.9': {
    code: 'declined',
    says: 'The SM-DP+ does not know this ICCID; ask the operator to load the range it belongs to.',
  },
  '8.2.1/3.3': {
    code: 'state_conflict',
    says: 'The profile is not available at the SM-DP+: it is reserved, downloaded or given up already. Order another eSIM.',
  },
  '8.2.1/3.5': {
    code: 'state_conflict',
    says: 'The profile cannot be released in the state it has at the SM-DP+. Order another eSIM.',
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
    says: 'The SM-DP+ does not allow us this profile type; ask the operator to allow our requester identifier for it.',
  },
  '8.2.5/3.8': {
    code: 'declined',
    says: 'The profile with this ICCID is of another type than the product’s; ask the operator to correct the catalog.',
  },
  '8.2.6/3.3': {
    code: 'state_conflict',
    says: 'The matching id is in use at the SM-DP+ for another profile; order again to get another.',
  },
  '8.2.6/3.10': {
    code: 'state_conflict',
    says: 'The profile is bound to another matching id at the SM-DP+; somebody else has confirmed it. Order another eSIM.',
  },
  '8.1.1/2.2': {
    code: 'declined',
    says: 'The SM-DP+ wants the device’s EID for this profile; order again with `eid`.',
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
    says: 'The SM-DP+ refuses this EID; check that it is the device’s, or order without `eid`.',
  },
  '4.2': { code: 'network_unavailable', says: 'The SM-DP+ could not carry it out just now.', mayPass: true },
  '4.10': { code: 'network_unavailable', says: 'The SM-DP+ did not finish it in time.', mayPass: true },
  '5.1': {
    code: 'network_unavailable',
    says: 'The SM-DP+ could not reach a system behind it.',
    mayPass: true,
  },
};

/** A `Failed` or `Expired` in our words. Codes that nobody has told us of are refusals: repeating them helps nobody. */
export function judgeStatus({ status, statusCodeData }: ExecutionStatus, about: About): Verdict {
  const { subjectCode = '', reasonCode = '' } = statusCodeData ?? {};
  const meaning = meanings[`${subjectCode}/${reasonCode}`] ?? meanings[reasonCode];
  const upstream = {
    ...upstreamOf(about),
    ...(subjectCode && { subject_code: subjectCode }),
    ...(reasonCode && { reason_code: reasonCode }),
    ...ownWords(
      { subject_identifier: statusCodeData?.subjectIdentifier, message: statusCodeData?.message },
      about,
    ),
  };
  if (status === 'Expired') {
    const message = 'The SM-DP+ let the call expire.';
    return { reason: { code: 'network_unavailable', message, upstream }, mayPass: true, hadNoEffect: false };
  }
  if (meaning) {
    const { code, says, mayPass = false } = meaning;
    return { reason: { code, message: says, upstream }, mayPass, hadNoEffect: !isTimeUp(reasonCode) };
  }
  const codes = subjectCode
    ? ` with the codes ${subjectCode}/${reasonCode} (SGP.22 §5.2.6)`
    : ' without saying why';
  const message = `The SM-DP+ refused ${about.name}${codes}; give the operator these codes.`;
  return { reason: { code: 'declined', message, upstream }, mayPass: false, hadNoEffect: true };
}

/** Like `Expired`, and unlike every other `Failed`, this says when the work was given up and not how far it had come. */
function isTimeUp(reasonCode: string): boolean {
  return reasonCode === '4.10';
}

/** There was no answer that could be used. */
export function describeTrouble(
  why: Why | { status: number } | { unreadable: string },
  about: About,
): Refusal {
  const upstream = upstreamOf(about);
  if (typeof why === 'string') {
    return { code: 'network_unavailable', message: troubles[why](about.host), upstream };
  }
  if ('status' in why) {
    return {
      code: 'network_unavailable',
      message: `The SM-DP+ at ${about.host} answered with HTTP ${why.status}${hintOf(why.status)}.`,
      upstream: { ...upstream, status: String(why.status) },
    };
  }
  const message = `The SM-DP+ at ${about.host} gave an answer that breaks SGP.22: ${why.unreadable}.`;
  return { code: 'network_unavailable', message, upstream };
}

/** The SM-DP+ may hold a profile for us that we cannot name, and asking again could take a second one. */
export function outcomeUnknown(about: About, cause: string): Refusal {
  return {
    code: 'outcome_unknown',
    message:
      `${cause} Whether the SM-DP+ has reserved a profile is not known, and it was not asked again, since that could ` +
      `reserve a second. The operator should look up the function call identifier ${about.callId} at ${about.host} and give ` +
      'back what it finds; then order again.',
    upstream: upstreamOf(about),
  };
}

const troubles: Record<Why, (host: string) => string> = {
  timeout: (host) => `The SM-DP+ at ${host} did not answer in time.`,
  connection: (host) => `The connection to the SM-DP+ at ${host} failed.`,
  'peer-certificate': (host) =>
    `The SM-DP+ at ${host} did not prove who it is: its certificate is expired, for another name or from nobody we trust. The operator should check it and SIMPLANE_ES2_CA.`,
  'own-certificate': (host) =>
    `The SM-DP+ at ${host} refused our certificate. The operator should check SIMPLANE_ES2_CERT and have it allowed there.`,
  'too-large': (host) => `The SM-DP+ at ${host} sent a larger answer than ES2+ has.`,
  'not-json': (host) => `The SM-DP+ at ${host} sent an answer that is not JSON.`,
};

function hintOf(status: number): string {
  if (status >= 300 && status < 400)
    return ', a redirect, which is never followed; the operator should correct SIMPLANE_ES2_URL';
  if (status === 401 || status === 403)
    return ': it does not let us in; the operator should have our certificate allowed there';
  if (status === 404) return ': ES2+ is not there; the operator should correct SIMPLANE_ES2_URL';
  return '';
}

function upstreamOf({ name, callId }: About): Record<string, string> {
  return { function: name, function_call_identifier: callId };
}

const longestMessage = 200;

/** A peer's own words may repeat what we sent it, hold a whole activation code, or what no database takes. */
function ownWords(words: Record<string, string | undefined>, { secrets }: About): Record<string, string> {
  const shown = Object.entries(words).map(([name, text = '']) => [name, harmless(text, secrets)] as const);
  return Object.fromEntries(shown.filter(([, text]) => text !== ''));
}

/** Cut last: a secret that the cut goes through would not be recognised. */
function harmless(text: string, secrets: readonly string[]): string {
  const clean = text.replaceAll(/[\p{Cc}\p{Surrogate}]/gu, ' ').trim();
  const redacted = secrets
    .reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), clean)
    .replaceAll(/(?:LPA:)?1\$[^\s"]*/g, '[redacted]');
  return clip(redacted, longestMessage);
}
