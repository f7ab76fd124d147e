import { isIccid } from '@simplane/contract';
import type { Call, Network, Reply } from '../port.ts';
import type { Es2Client } from './client.ts';
import type { OrderFunctionName, RequestOf, ResponseOf } from './functions.ts';
import { es2Functions } from './functions.ts';
import { readAnswer, writeRequest } from './messages.ts';
import {
  type About,
  describeFailure,
  describeRemedy,
  isGatewayError,
  judgeStatus,
  outcomeUnknown,
  wrongCheckDigit,
} from './outcomes.ts';

type Options = {
  client: Es2Client;
  requesterId: string;
  /** Who chooses ICCIDs. With our own, the ICCID distinguishes a repetition from a second order. */
  iccids: Network['iccids'];
  /** Whether the SM-DP+ answers a repeated functionCallIdentifier with its first answer. Servers need not. */
  recognisesCalls: boolean;
  /** `releaseFlag` of confirmOrder. If false, releaseProfile follows. */
  releasesOnConfirm: boolean;
  padsIccids: boolean;
  /** Rejects an ICCID of the SM-DP+ whose check digit is wrong. */
  requiresCheckDigit: boolean;
  /** HTTP statuses by which a gateway says that it did not pass the request on. */
  undoneStatuses: ReadonlySet<number>;
  /** Used in activation codes if confirmOrder's answer has no address. */
  smdpAddress: string;
  /** Done by the operator's core: ES2+ has neither. */
  commands: Pick<Network, 'suspend' | 'resume'>;
  /** Logs failures for the operator, with more detail than an order's error. */
  onTrouble(details: object): void;
};

/** Provisioning at a real SM-DP+ (SGP.22 §5.3). Stateless: everything it needs is in the call. */
export function createEs2Network(options: Options): Network {
  const { iccids, recognisesCalls, releasesOnConfirm, smdpAddress, commands } = options;
  const pad = (iccid: string) => (options.padsIccids ? iccid.padEnd(20, 'F') : iccid);

  return {
    iccids,
    forgetsCalls: true,
    ...commands,

    async order(call) {
      const about = aboutOf(options, 'downloadOrder', call);
      // Depends on the order, not on the setting: ICCID ranges may have been added or removed since it was first sent.
      const isOnce = call.iccid === null && !recognisesCalls;
      if (call.isRepeated && isOnce) {
        const message = 'The answer to an earlier downloadOrder was lost.';
        return { ...refuse(outcomeUnknown(about, { message })), isLocal: true };
      }
      const { iccid, profileType, eid } = call;
      if (iccid === null && profileType === null) return { ...refuse(noProfileType), isLocal: true };
      const fields = {
        ...(iccid !== null && { iccid: pad(iccid) }),
        ...(profileType !== null && { profileType }),
        ...(eid !== null && { eid }),
      };
      const reply = await ask(options, call, about, fields, isOnce);
      if (reply.kind === 'done') return checkOrdered(options, reply.result, iccid, about);
      // Executed, but the answer does not tell which profile was reserved.
      if (reply.kind === 'refused' && reply.reason.code === 'network_unavailable') {
        return refuse(outcomeUnknown(about, reply.reason));
      }
      if (iccid !== null && call.isRepeated && isCode(reply, '8.2.1/3.3')) {
        return done({ iccid, isInferred: true });
      }
      if (reply.kind === 'failed' && !reply.hadNoEffect && isOnce) {
        const { reason, isDown } = reply;
        return { ...refuse(outcomeUnknown(about, reason)), ...(isDown && { isDown }) };
      }
      return reply.kind === 'refused' && iccid !== null ? judgeIccid(reply, iccid) : reply;
    },

    async confirm(call) {
      const { iccid, matchingId, confirmationCode, eid } = call;
      const about = aboutOf(options, 'confirmOrder', call, [matchingId, confirmationCode]);
      const reply = await ask(options, call, about, {
        iccid: pad(iccid),
        releaseFlag: releasesOnConfirm,
        matchingId,
        ...(confirmationCode !== null && { confirmationCode }),
        ...(eid !== null && { eid }),
      });
      const ours = {
        confirmationCodeRequired: confirmationCode !== null,
        isReleased: releasesOnConfirm,
        smdpAddress,
        matchingId,
      };
      if (reply.kind === 'done') return done({ ...ours, ...withoutEid(reply.result) });
      // Nobody else has this ICCID or could guess this matching id, so the conflict is with our own first call.
      const isOurOwn = call.isRepeated && isCode(reply, '8.2.6/3.3', '8.2.1/3.3', '8.2.1/3.5');
      if (isOurOwn) return done(ours);
      if (reply.kind !== 'refused' || !isCode(reply, '8.2.6/3.10')) return reply;
      return { ...reply, belongsToOther: true };
    },

    async release(call) {
      const about = aboutOf(options, 'releaseProfile', call, [call.matchingId]);
      const reply = await ask(options, call, about, { iccid: pad(call.iccid) });
      // Already released or downloaded, so our first call succeeded.
      return call.isRepeated && isCode(reply, '8.2.1/3.5', '8.2.1/3.3') ? done({}) : reply;
    },

    async cancel(call) {
      const { matchingId, eid, isUnconfirmed } = call;
      const about = aboutOf(options, 'cancelOrder', call, [matchingId]);
      // With `Available` the SM-DP+ could assign the ICCID again, but here an ICCID that was an eSIM is never reused.
      const minimal = { iccid: pad(call.iccid), finalProfileStatusIndicator: 'Unavailable' } as const;
      const ofDevice = eid !== null && { eid };
      const ofOrder = matchingId !== null && { matchingId };
      const again = { ...about, callId: `${about.callId}-2` };
      let reply = await ask(options, call, about, { ...minimal, ...ofDevice, ...ofOrder });
      // A strict server rejects the matching id of an order that was never confirmed, and an EID that a device reported
      // later. Never drop both: then nothing would prove that the profile is ours.
      if (isUnconfirmed && isCode(reply, '8.2.6/3.10')) {
        reply = await ask(options, call, again, { ...minimal, ...ofDevice });
      } else if (ofOrder && isCode(reply, '8.1.1/3.10')) {
        reply = await ask(options, call, again, { ...minimal, ...ofOrder });
      }
      // Unknown at the SM-DP+, already canceled, or downloaded by a device: there is nothing left to cancel.
      return isCode(reply, '8.2.1/3.9', '8.2.1/3.3', '8.2.1/3.5') ? done({}) : reply;
    },
  };
}

async function ask<N extends OrderFunctionName>(
  { client, requesterId, undoneStatuses, onTrouble }: Options,
  { signal }: Call,
  about: About & { name: N },
  fields: RequestOf<N>,
  isOnce = false,
): Promise<Reply<ResponseOf<N>>> {
  const header = { functionRequesterIdentifier: requesterId, functionCallIdentifier: about.callId };
  const body = writeRequest(about.name, header, fields);
  // An order that must not be repeated uses a new connection: the peer may be closing an idle one.
  const posted = await client.post(es2Functions[about.name].path, body, { signal, isFresh: isOnce });
  if (posted.kind === 'unanswered') {
    const { why, error, isUnsent } = posted;
    onTrouble({ ...publicPart(about), why, error, remedy: describeRemedy(why), sent: !isUnsent });
    const reason = describeFailure(posted, about);
    if (!isUnsent) return { kind: 'failed', reason };
    // Aborted before it was sent: that says nothing about the SM-DP+.
    const isUnreached = !signal.aborted;
    return { kind: 'failed', reason, hadNoEffect: true, ...(isUnreached && { isDown: true, isUnreached }) };
  }
  if (posted.status !== 200) {
    onTrouble({ ...publicPart(about), status: posted.status, remedy: describeRemedy(posted) });
    const reason = describeFailure({ status: posted.status }, about);
    const { status } = posted;
    // A 4xx rejects the request, so it had no effect. After a 5xx the effect is unknown, unless it is a gateway's refusal; where a
    // repetition can be distinguished from a second order, that is more reliable than the gateway.
    const isRejected = status >= 400 && status < 500 && status !== 408;
    const hadNoEffect = isRejected || (isOnce && undoneStatuses.has(status));
    const isDown = isGatewayError(status);
    return { kind: 'failed', reason, ...(hadNoEffect && { hadNoEffect }), ...(isDown && { isDown }) };
  }
  const answer = readAnswer(about.name, posted.json);
  if (answer.kind === 'executed') return done(answer.fields);
  if (answer.kind !== 'not-executed') {
    const reason = describeFailure({ unreadable: answer.why, json: posted.json }, about);
    onTrouble({ ...publicPart(about), unreadable: answer.why, ...reason.upstream });
    // A repetition would only be told that it is already done, not the result.
    return answer.kind === 'broken' ? refuse(reason) : { kind: 'failed', reason };
  }
  const { reason, isTemporary, hadNoEffect } = judgeStatus(answer.status, about);
  onTrouble({ ...publicPart(about), ...reason.upstream });
  if (!isTemporary) return refuse(reason);
  // Where a repetition can be distinguished from a second order, that is more reliable than the SM-DP+'s answer.
  return { kind: 'failed', reason, ...(isOnce && hadNoEffect && { hadNoEffect: true }) };
}

/** The ICCID becomes the eSIM's permanent identity, so the SM-DP+'s answer is validated. */
function checkOrdered(
  { requiresCheckDigit, onTrouble }: Options,
  { iccid }: ResponseOf<'downloadOrder'>,
  wanted: string | null,
  about: About,
): Reply<{ iccid: string }> {
  if (wanted !== null && iccid !== wanted) {
    onTrouble({ ...publicPart(about), unreadable: 'another ICCID than the one ordered', iccid });
    const message = 'The SM-DP+ answered with another ICCID than the one ordered.';
    return refuse(outcomeUnknown(about, { message, upstream: { iccid } }));
  }
  if (requiresCheckDigit && !isIccid(iccid)) {
    const unreadable = 'the ICCID has no valid check digit, which SIMPLANE_ES2_ICCID_CHECK requires';
    onTrouble({ ...publicPart(about), unreadable, iccid });
    return { kind: 'refused', reason: wrongCheckDigit(about, iccid), reservedIccid: iccid };
  }
  return done({ iccid });
}

/** What a refused order means for our own ICCID. Unless the SM-DP+ clearly objects to something else, the number is suspect. */
function judgeIccid(reply: Extract<Reply<never>, { kind: 'refused' }>, iccid: string): Reply<never> {
  const reason = { ...reply.reason, upstream: { ...reply.reason.upstream, iccid } };
  const isInUse = isCode(reply, '8.2.1/3.3', '8.2.1/3.5');
  if (isInUse) return { ...reply, reason };
  const { subject_code: subject = '' } = reason.upstream as Record<string, string>;
  const isAboutOther =
    (subject === '8.2.5' && !isCode(reply, '8.2.5/3.8')) || /^(1|8\.1)(\.|$)/.test(subject);
  return { ...reply, reason, leavesIccid: isAboutOther ? 'free' : 'suspect' };
}

const noProfileType = {
  code: 'declined',
  message:
    'The product has no profile type, so the SM-DP+ cannot reserve a profile; the operator should set `profile_type` in the catalog.',
} as const;

function aboutOf<N extends OrderFunctionName>(
  { client }: Options,
  name: N,
  { id }: Call,
  secrets: (string | null)[] = [],
): About & { name: N } {
  return { name, callId: id, host: client.host, secrets: secrets.filter((secret) => secret !== null) };
}

function publicPart({ name, callId, host }: About) {
  return { function: name, function_call_identifier: callId, host };
}

function withoutEid({ matchingId, smdpAddress }: ResponseOf<'confirmOrder'>) {
  return { matchingId, ...(smdpAddress !== undefined && { smdpAddress }) };
}

function isCode(reply: Reply<unknown>, ...codes: string[]): boolean {
  if (reply.kind !== 'refused') return false;
  const { subject_code, reason_code } = reply.reason.upstream ?? {};
  return codes.includes(`${subject_code}/${reason_code}`);
}

function done<Result>(result: Result): Reply<Result> {
  return { kind: 'done', result };
}

function refuse(reason: Extract<Reply<never>, { kind: 'refused' }>['reason']): Reply<never> {
  return { kind: 'refused', reason };
}
