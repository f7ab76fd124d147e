import { type Event, encodeId } from '@simplane/contract';
import { describe, expect, test } from 'vitest';
import { type EndpointTimeline, wasCertainlyDue } from '../dist/history/endpoint-timelines.js';

/** An event whose id was created in that millisecond. */
function eventAt(ms: number, type = 'esim.provisioned'): Event {
  const uuid = Buffer.alloc(16);
  uuid.writeUIntBE(ms, 0, 6);
  return { id: encodeId('evt', uuid), type, object: 'event', created: 0, data: {} };
}

function timelineOf(own: Partial<EndpointTimeline>): EndpointTimeline {
  const created = { fromMs: 100, toMs: 200 };
  return {
    ...{
      account: 0,
      id: 'we_1',
      hook: 'hook-1',
      isOrdered: false,
      enabled: [created],
      disabled: [],
      secrets: [],
    },
    subscriptions: [{ ...created, types: ['esim.*'] }],
    ...own,
  };
}

describe('an event must be queued for an endpoint', () => {
  test('that existed before the event and stayed enabled', () => {
    expect(wasCertainlyDue(timelineOf({}), eventAt(201), 250)).toBe(true);
  });
  test('that was disabled after the commit', () => {
    expect(wasCertainlyDue(timelineOf({ disabled: [{ fromMs: 251, toMs: 300 }] }), eventAt(201), 250)).toBe(
      true,
    );
  });
  test('that was disabled and enabled again before the event', () => {
    const timeline = timelineOf({
      enabled: [
        { fromMs: 100, toMs: 200 },
        { fromMs: 350, toMs: 400 },
      ],
      disabled: [{ fromMs: 250, toMs: 300 }],
    });
    expect(wasCertainlyDue(timeline, eventAt(401), 450)).toBe(true);
  });
});

describe('an event may be missing', () => {
  test('if it was created before the endpoint’s creation was answered', () => {
    expect(wasCertainlyDue(timelineOf({}), eventAt(150), 250)).toBe(false);
  });
  test('if it was committed while or after the endpoint was disabled', () => {
    const timeline = timelineOf({ disabled: [{ fromMs: 220, toMs: 300 }] });
    expect(wasCertainlyDue(timeline, eventAt(210), 250)).toBe(false);
    expect(wasCertainlyDue(timeline, eventAt(310), 350)).toBe(false);
  });
  test('if disabling and enabling overlapped, so either may have come last', () => {
    const timeline = timelineOf({
      enabled: [
        { fromMs: 100, toMs: 200 },
        { fromMs: 250, toMs: 300 },
      ],
      disabled: [{ fromMs: 260, toMs: 310 }],
    });
    expect(wasCertainlyDue(timeline, eventAt(400), 450)).toBe(false);
  });
  test('if the subscription was changing', () => {
    const subscriptions = [
      { fromMs: 100, toMs: 200, types: ['esim.*'] },
      { fromMs: 230, toMs: 300, types: ['*'] },
    ];
    expect(wasCertainlyDue(timelineOf({ subscriptions }), eventAt(220), 250)).toBe(false);
    expect(wasCertainlyDue(timelineOf({ subscriptions }), eventAt(310), 350)).toBe(true);
  });
  test('if the endpoint does not subscribe to its type', () => {
    expect(wasCertainlyDue(timelineOf({}), eventAt(201, 'bundle.expired'), 250)).toBe(false);
  });
});
