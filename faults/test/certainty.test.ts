import { type Event, encodeId } from '@simplane/contract';
import { describe, expect, test } from 'vitest';
import { type EndpointLife, wasCertainlyDue } from '../dist/history/endpoint-lives.js';

/** An event whose id was made in that millisecond. */
function madeAt(ms: number, type = 'esim.provisioned'): Event {
  const uuid = Buffer.alloc(16);
  uuid.writeUIntBE(ms, 0, 6);
  return { id: encodeId('evt', uuid), type, object: 'event', created: 0, data: {} };
}

function lifeWith(own: Partial<EndpointLife>): EndpointLife {
  const created = { fromMs: 100, toMs: 200 };
  return {
    ...{ account: 0, id: 'we_1', hook: 'hook-1', enabled: [created], ended: [], secrets: [] },
    typed: [{ ...created, types: ['esim.*'] }],
    ...own,
  };
}

describe('an event had to be queued for an endpoint', () => {
  test('that was there before it was made, and stayed', () => {
    expect(wasCertainlyDue(lifeWith({}), madeAt(201), 250)).toBe(true);
  });
  test('that was disabled after it was committed', () => {
    expect(wasCertainlyDue(lifeWith({ ended: [{ fromMs: 251, toMs: 300 }] }), madeAt(201), 250)).toBe(true);
  });
  test('that was disabled and enabled again before it was made', () => {
    const life = lifeWith({
      enabled: [
        { fromMs: 100, toMs: 200 },
        { fromMs: 350, toMs: 400 },
      ],
      ended: [{ fromMs: 250, toMs: 300 }],
    });
    expect(wasCertainlyDue(life, madeAt(401), 450)).toBe(true);
  });
});

describe('nothing is certain about an event', () => {
  test('that was made before the creation was answered', () => {
    expect(wasCertainlyDue(lifeWith({}), madeAt(150), 250)).toBe(false);
  });
  test('that was committed while the endpoint was being disabled, or after it', () => {
    const life = lifeWith({ ended: [{ fromMs: 220, toMs: 300 }] });
    expect(wasCertainlyDue(life, madeAt(210), 250)).toBe(false);
    expect(wasCertainlyDue(life, madeAt(310), 350)).toBe(false);
  });
  test('when disabling and enabling overlapped, so that either may have come last', () => {
    const life = lifeWith({
      enabled: [
        { fromMs: 100, toMs: 200 },
        { fromMs: 250, toMs: 300 },
      ],
      ended: [{ fromMs: 260, toMs: 310 }],
    });
    expect(wasCertainlyDue(life, madeAt(400), 450)).toBe(false);
  });
  test('while what the endpoint subscribes to was being changed', () => {
    const typed = [
      { fromMs: 100, toMs: 200, types: ['esim.*'] },
      { fromMs: 230, toMs: 300, types: ['*'] },
    ];
    expect(wasCertainlyDue(lifeWith({ typed }), madeAt(220), 250)).toBe(false);
    expect(wasCertainlyDue(lifeWith({ typed }), madeAt(310), 350)).toBe(true);
  });
  test('of a type that the endpoint does not subscribe to', () => {
    expect(wasCertainlyDue(lifeWith({}), madeAt(201, 'bundle.expired'), 250)).toBe(false);
  });
});
