import { expect, test } from 'vitest';
import type { Call } from '../port.ts';
import type { Es2Client } from './client.ts';
import { createEs2Network } from './es2-network.ts';

type Posted = Awaited<ReturnType<Es2Client['post']>>;
type Options = Parameters<typeof createEs2Network>[0];

const own = '8999901000000000013';
const other = '8999901000000000021';
const eid = '89049032004008882600009231000001';
const matchingId = 'MATCHING-ID-1';

const answered = (status: number, json: unknown = null): Posted => ({ kind: 'answered', status, json });
const executed = (fields: object = {}) =>
  answered(200, { header: { functionExecutionStatus: { status: 'Executed-Success' } }, ...fields });
const refused = (code: string, status = 'Failed') => {
  const [subjectCode, reasonCode] = code.split('/');
  const statusCodeData = { subjectCode, reasonCode };
  return answered(200, { header: { functionExecutionStatus: { status, statusCodeData } } });
};
const unanswered = (isUnsent: boolean): Posted => {
  return { kind: 'unanswered', why: 'connection', isUnsent, error: 'x' };
};

/** A network whose SM-DP+ gives these answers, and the requests that it got. */
function start(answers: Posted[], options: Partial<Options> = {}) {
  const sent: (Record<string, unknown> & { isFresh: boolean })[] = [];
  const client: Es2Client = {
    host: 'smdp.example',
    async post(_, body, { isFresh }) {
      const { header, ...fields } = JSON.parse(body);
      sent.push({ ...fields, id: header.functionCallIdentifier, isFresh });
      return answers[sent.length - 1] ?? executed();
    },
    close: async () => {},
  };
  const never = async () => ({ kind: 'done', result: {} }) as const;
  const network = createEs2Network({
    ...{ client, requesterId: '1.2.3', iccids: 'theirs', recognisesCalls: false, releasesOnConfirm: true },
    ...{ padsIccids: false, requiresCheckDigit: true, undoneStatuses: new Set([503]) },
    ...{ smdpAddress: 'smdp.example', commands: { suspend: never, resume: never }, onTrouble() {} },
    ...options,
  });
  return { network, sent };
}

const call = (fields: Partial<Call> = {}): Call => {
  return { id: 'call-1', attempt: 1, signal: new AbortController().signal, ...fields };
};
const wanted = { productId: 'p', profileType: 'basic', eid: null };

function order(answer: Posted, { iccid = null, ...fields }: Partial<Call> & { iccid?: string | null } = {}) {
  return start([answer]).network.order({ ...call(fields), ...wanted, iccid });
}
function confirm(answer: Posted, isRepeated = false) {
  const { network } = start([answer]);
  return network.confirm({
    ...call({ isRepeated }),
    ...wanted,
    ...{ iccid: own, matchingId, confirmationCode: null },
  });
}
function cancel(
  answers: Posted[],
  fields: { matchingId?: string | null; eid?: string | null; isUnconfirmed?: boolean },
) {
  const { network, sent } = start(answers);
  const given = { matchingId, eid, isUnconfirmed: false, ...fields };
  return network.cancel({ ...call(), iccid: own, ...given }).then((reply) => ({ reply, sent }));
}

test('an order without profile type and ICCID is not sent', async () => {
  const { network, sent } = start([]);
  const reply = await network.order({ ...call(), ...wanted, profileType: null, iccid: null });
  expect([reply.kind, sent]).toEqual(['refused', []]);
});

test('an order for an ICCID of the SM-DP+ is sent once, on a new connection, and not repeated', async () => {
  const { network, sent } = start([executed({ iccid: other })]);
  const asked = { ...wanted, iccid: null };
  expect(await network.order({ ...call(), ...asked })).toMatchObject({ result: { iccid: other } });
  expect(await network.order({ ...call({ isRepeated: true }), ...asked })).toMatchObject({
    reason: { code: 'outcome_unknown' },
    isLocal: true,
  });
  expect(sent.map(({ isFresh }) => isFresh)).toEqual([true]);
});

test.each([
  ['a gateway', answered(504), true],
  ['a lost connection', unanswered(false), undefined],
  ['a timeout of the SM-DP+', refused('8.1/4.10'), undefined],
  ['an expired call', refused('8.1/4.2', 'Expired'), undefined],
  ['an answer without a result', executed(), undefined],
])(
  'an order with its outcome unknown after %s is refused, so that it is not repeated',
  async (_, answer, isDown) => {
    const reply = await order(answer);
    expect(reply).toMatchObject({ kind: 'refused', reason: { code: 'outcome_unknown' } });
    expect('isDown' in reply && reply.isDown).toBe(isDown ?? false);
  },
);

test.each([
  ['refused by a gateway that passed nothing on', answered(503)],
  ['rejected', answered(404)],
  ['refused for now', refused('8.1/4.2')],
  ['refused because of a system behind the SM-DP+', refused('8.1/5.1')],
  ['never sent', unanswered(true)],
])('an order that was %s had no effect, so it is repeated', async (_, answer) => {
  expect(await order(answer)).toMatchObject({ kind: 'failed', hadNoEffect: true });
});

test('where a repetition can be told from a second order, only a rejection counts as without effect', async () => {
  for (const answer of [answered(503), answered(408), refused('8.1/4.2')]) {
    const reply = await order(answer, { iccid: own });
    expect(reply.kind).toBe('failed');
    expect(reply).not.toHaveProperty('hadNoEffect');
  }
  expect(await order(answered(404), { iccid: own })).toMatchObject({ hadNoEffect: true });
});

test('a call that was not sent shows an outage, unless it was aborted', async () => {
  const aborted = new AbortController();
  aborted.abort();
  expect(await order(unanswered(true))).toMatchObject({ isDown: true, isUnreached: true });
  const reply = await order(unanswered(true), { signal: aborted.signal });
  expect(reply).toMatchObject({ kind: 'failed', hadNoEffect: true });
  expect(reply).not.toHaveProperty('isDown');
});

test('an SM-DP+ that fails at one call is not down for all, and one behind a gateway that says so is', async () => {
  const isDown = async (status: number) => {
    const reply = await order(answered(status), { iccid: own });
    return 'isDown' in reply && reply.isDown;
  };
  expect(await Promise.all([404, 500, 501, 505].map(isDown))).toEqual([false, false, false, false]);
  expect(await Promise.all([502, 503, 504].map(isDown))).toEqual([true, true, true]);
});

test('an answer with a status that the standard does not have is no success', async () => {
  const header = { functionExecutionStatus: { status: 'Executed' } };
  expect((await order(answered(200, { header, iccid: own }), { iccid: own })).kind).toBe('failed');
  expect(await order(answered(200, { header, iccid: own }))).toMatchObject({
    reason: { code: 'outcome_unknown' },
  });
});

test('text in the place of a code is not taken for one', async () => {
  const reply = await order(refused('8.2.5 LPA:1$smdp.example$SECRET/3.7'), { iccid: own });
  expect(reply).toMatchObject({ kind: 'refused', reason: { code: 'declined' } });
  expect(JSON.stringify(reply)).not.toContain('SECRET');
});

test('a request that SGP.22 does not allow is not sent, and the error does not repeat it', async () => {
  const { network, sent } = start([]);
  const secret = 'not capital letters';
  const asked = { ...call(), ...wanted, iccid: own, matchingId: secret, confirmationCode: null };
  const error: Error = await network.confirm(asked).catch((thrown) => thrown);
  expect([error.message, sent]).toEqual([
    'confirmOrder (SGP.22 §5.3.2): matchingId is not digits, capital letters and -',
    [],
  ]);
});

test('a taken ICCID is ours only if the order is a repetition, and never free again', async () => {
  const taken = refused('8.2.1/3.3');
  const first = await order(taken, { iccid: own });
  expect(first).toMatchObject({ kind: 'refused', reason: { upstream: { iccid: own } } });
  expect(first).not.toHaveProperty('leavesIccid');
  expect(await order(refused('8.2.1/3.5'), { iccid: own })).not.toHaveProperty('leavesIccid');
  expect(await order(taken, { iccid: own, isRepeated: true })).toEqual({
    kind: 'done',
    result: { iccid: own, isInferred: true },
  });
});

test.each([
  ['8.2.5/3.7', 'free'],
  ['8.1.1/3.8', 'free'],
  ['8.1/4.3', 'free'],
  ['1.6/2.2', 'free'],
  ['1/1.1', 'free'],
  ['8.2.5/3.8', 'suspect'],
  ['8.2.1/3.9', 'suspect'],
  ['8.10/1.2', 'suspect'],
])('an order refused with %s leaves its number %s', async (code, state) => {
  expect(await order(refused(code), { iccid: own })).toMatchObject({ leavesIccid: state });
});

test('an answer with another ICCID than the one ordered, or without a check digit, reserves something', async () => {
  expect(await order(executed({ iccid: other }), { iccid: own })).toMatchObject({
    reason: {
      ...{ code: 'outcome_unknown', upstream: { iccid: other } },
      message: expect.stringContaining(`Its answer had the ICCID ${other}.`),
      detail: expect.stringContaining('(smdp.example) and resolve the execution.'),
    },
  });
  const wrong = '8999901000000000011';
  expect(await order(executed({ iccid: wrong }))).toMatchObject({ kind: 'refused', reservedIccid: wrong });
});

test('a conflict of a confirmation is with our own first call only if this one repeats it', async () => {
  for (const code of ['8.2.6/3.3', '8.2.1/3.3', '8.2.1/3.5']) {
    expect((await confirm(refused(code))).kind).toBe('refused');
    expect(await confirm(refused(code), true)).toMatchObject({ kind: 'done', result: { matchingId } });
  }
});

test('a profile that is bound to another matching id belongs to someone else', async () => {
  expect(await confirm(refused('8.2.6/3.10'), true)).toMatchObject({ belongsToOther: true });
  expect(await confirm(refused('8.2.1/1.2'))).not.toHaveProperty('belongsToOther');
});

test('a matching id that would be more than that in an activation code is not taken', async () => {
  const answer = (id: string) => confirm(executed({ matchingId: id }));
  expect(await answer('AB-1')).toMatchObject({ kind: 'done', result: { matchingId: 'AB-1' } });
  expect((await answer('AB-1$$1')).kind).toBe('refused');
});

test('an ICCID that is padded with f is the same without it', async () => {
  expect(await order(executed({ iccid: `${other}f` }))).toMatchObject({ result: { iccid: other } });
});

test('the address of an SM-DP+ that ends with the root’s dot is the same without it', async () => {
  const confirmed = await confirm(executed({ matchingId, smdpAddress: 'RSP.Example.com.' }));
  expect(confirmed).toMatchObject({ kind: 'done', result: { smdpAddress: 'rsp.example.com' } });
});

test.each(['8.2.1/3.5', '8.2.1/3.3'])(
  'a release that is refused with %s was made before only if it is repeated',
  async (code) => {
    const release = (isRepeated: boolean) =>
      start([refused(code)]).network.release({ ...call({ isRepeated }), iccid: own, matchingId });
    expect([(await release(false)).kind, (await release(true)).kind]).toEqual(['refused', 'done']);
  },
);

test('a cancellation leaves out the matching id only of an order that was never confirmed', async () => {
  const unbound = refused('8.2.6/3.10');
  const confirmed = await cancel([unbound], {});
  expect([confirmed.reply.kind, confirmed.sent.length]).toEqual(['refused', 1]);
  const { reply, sent } = await cancel([unbound, executed()], { isUnconfirmed: true });
  expect(reply.kind).toBe('done');
  expect(sent.map((one) => [one['id'], one['matchingId'], one['eid']])).toEqual([
    ['call-1', matchingId, eid],
    ['call-1-2', undefined, eid],
  ]);
});

test('a cancellation leaves out the EID only if the matching id proves that the profile is ours', async () => {
  const otherDevice = refused('8.1.1/3.10');
  const unproven = await cancel([otherDevice], { matchingId: null });
  expect([unproven.reply.kind, unproven.sent.length]).toEqual(['refused', 1]);
  const { reply, sent } = await cancel([otherDevice, executed()], {});
  expect(reply.kind).toBe('done');
  expect(sent.map((one) => [one['id'], one['matchingId'], one['eid']])).toEqual([
    ['call-1', matchingId, eid],
    ['call-1-2', matchingId, undefined],
  ]);
});

test.each(['8.2.1/3.9', '8.2.1/3.3', '8.2.1/3.5'])(
  'after %s there is nothing left to cancel',
  async (code) => {
    expect((await cancel([refused(code)], {})).reply.kind).toBe('done');
  },
);

test('a cancellation that expired or timed out at the SM-DP+ or was not understood is tried again', async () => {
  for (const answer of [refused('8.1/4.2', 'Expired'), refused('8.1/4.10'), answered(200, {}), answered(500)])
    expect((await cancel([answer], {})).reply.kind).toBe('failed');
});

test('the operator’s log has each call that failed, with its id, the cause and what to do', async () => {
  const wrong = '8999901000000000011';
  const answers = [
    ...[unanswered(false), answered(404), refused('8.2.1/1.2'), executed({ iccid: 'none' })],
    ...[executed({ iccid: other }), executed({ iccid: wrong })],
  ];
  const told: object[] = [];
  const { network } = start(answers, { onTrouble: (details) => void told.push(details) });
  for (const iccid of [own, own, own, own, own, wrong]) await network.order({ ...call(), ...wanted, iccid });
  const about = { function: 'downloadOrder', function_call_identifier: 'call-1', host: 'smdp.example' };
  expect(told).toMatchObject([
    {
      ...about,
      why: 'connection',
      error: 'x',
      remedy: expect.stringContaining('SIMPLANE_ES2_URL'),
      sent: true,
    },
    { ...about, status: 404, remedy: 'correct SIMPLANE_ES2_URL' },
    { ...about, subject_code: '8.2.1', reason_code: '1.2' },
    { ...about, unreadable: expect.stringContaining('iccid'), iccid: 'none' },
    { ...about, unreadable: 'another ICCID than the one ordered', iccid: other },
    { ...about, unreadable: expect.stringContaining('check digit'), iccid: wrong },
  ]);
});
