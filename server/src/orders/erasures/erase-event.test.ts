import { expect, test } from 'vitest';
import { eraseEventBody } from './erase-event.ts';

function erased(type: string, data: object, isTest = false): object {
  const body = JSON.stringify({ id: 'evt_1', type, created: 1, data });
  const { data: left, ...event } = JSON.parse(eraseEventBody({ type, body, isTest }));
  expect(event).toEqual({ id: 'evt_1', type, created: 1 });
  return left;
}

const iccid = '8999901900000000001';

test('an event keeps what it says of the eSIM, and neither what its client said nor a field that nobody knows', () => {
  const data = { iccid, product_id: 'prod_1', reference: 'Jane', country: 'FR', nickname: 'Jane' };
  expect(erased('esim.provisioned', data)).toEqual({ iccid, product_id: 'prod_1', country: '' });
});

test('a test event may have anything under the names of our fields, so it keeps its ICCID only', () => {
  expect(erased('esim.provisioned', { iccid, product_id: 'Jane' }, true)).toEqual({ iccid });
  expect(erased('a.b', { iccid, product_id: 'Jane' })).toEqual({ iccid });
});

test.each(['Jane', `${iccid} Jane`, `Jane ${iccid}`, '1'.repeat(17), '1'.repeat(21), 7])(
  'a test event does not keep %j as an ICCID',
  (given) => {
    expect(erased('a.b', { iccid: given })).toEqual({});
  },
);
