import { describe, expect, test } from 'vitest';
import type { Call, Network } from '../../src/network/port.ts';

type Subject = {
  network: Network;
  wanted: { productId: string; profileType: string | null; eid: string | null };
  iccid: string | null;
  stop?(): Promise<void>;
};

/** The guarantees of every driver of the port. `start` returns a driver that has a profile to order. */
export function describeNetwork(name: string, start: () => Promise<Subject>): void {
  describe(`${name}, as a network`, () => {
    function call(id: string, attempt = 1, signal: AbortSignal = new AbortController().signal): Call {
      return { id, attempt, signal, isRepeated: attempt > 1 };
    }

    async function use(run: (subject: Subject) => Promise<void>) {
      const subject = await start();
      try {
        await run(subject);
      } finally {
        await subject.stop?.();
      }
    }

    test('orders a profile and confirms it with the given matching id', () =>
      use(async ({ network, wanted, iccid }) => {
        const ordered = await network.order({ ...call('1.order'), ...wanted, iccid });
        expect(ordered.kind).toBe('done');
        if (ordered.kind !== 'done') return;
        expect(ordered.result.iccid).toMatch(/^\d{18,20}$/);
        if (network.iccids === 'ours') expect(ordered.result.iccid).toBe(iccid);
        const confirmed = await network.confirm({
          ...call('1.confirm'),
          ...wanted,
          iccid: ordered.result.iccid,
          matchingId: 'AB-12',
          confirmationCode: null,
        });
        expect(confirmed).toMatchObject({
          kind: 'done',
          result: { matchingId: 'AB-12', smdpAddress: expect.stringMatching(/^[a-z0-9.-]+$/) },
        });
        if (confirmed.kind === 'done' && !confirmed.result.isReleased) {
          expect(
            await network.release({ ...call('1.release'), iccid: ordered.result.iccid, matchingId: 'AB-12' }),
          ).toMatchObject({
            kind: 'done',
          });
        }
      }));

    test('gives a repeated call the same answer, as after a lost answer', () =>
      use(async ({ network, wanted, iccid }) => {
        const first = await network.order({ ...call('2.order'), ...wanted, iccid });
        const second = await network.order({ ...call('2.order', 2), ...wanted, iccid });
        if (first.kind !== 'done') throw new Error('not ordered');
        expect(second).toMatchObject(first);
        const confirm = { ...wanted, iccid: first.result.iccid, matchingId: 'CD-34', confirmationCode: null };
        const confirmed = await network.confirm({ ...call('2.confirm'), ...confirm });
        expect(await network.confirm({ ...call('2.confirm', 2), ...confirm })).toEqual(confirmed);
      }));

    test('cancels a confirmed profile', () =>
      use(async ({ network, wanted, iccid }) => {
        const ordered = await network.order({ ...call('3.order'), ...wanted, iccid });
        if (ordered.kind !== 'done') throw new Error('not ordered');
        await network.confirm({
          ...call('3.confirm'),
          ...wanted,
          iccid: ordered.result.iccid,
          matchingId: 'EF-56',
          confirmationCode: null,
        });
        expect(
          await network.cancel({
            ...call('3.cancel'),
            iccid: ordered.result.iccid,
            matchingId: 'EF-56',
            eid: wanted.eid,
            isUnconfirmed: false,
          }),
        ).toMatchObject({ kind: 'done' });
      }));

    test('ends an aborted call as a temporary failure and never throws', () =>
      use(async ({ network, wanted, iccid }) => {
        const reply = await network.order({ ...call('4.order', 1, AbortSignal.abort()), ...wanted, iccid });
        expect(reply).toMatchObject({ kind: 'failed', reason: { code: 'network_unavailable' } });
      }));
  });
}
