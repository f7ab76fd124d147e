import { expect, test } from 'vitest';
import { eraseAnswerBody, eraseEventBody } from './erase-event.ts';

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

test('an event keeps no word of a client, a receiver or a network, and no place where its eSIM was', () => {
  const words = { url: 'https://jane.example', disabled_reason: 'Jane', last_error: 'Jane said no' };
  expect(
    erased('webhook_endpoint.disabled', { webhook_endpoint_id: 'we_1', failure_count: 3, ...words }),
  ).toEqual({
    ...{ webhook_endpoint_id: 'we_1', failure_count: 3 },
    ...{ url: '', disabled_reason: '', last_error: '' },
  });
  expect(erased('esim.country_changed', { iccid, country: 'FR', previous_country: 'DE' })).toEqual({
    ...{ iccid, country: '', previous_country: '' },
  });
  const error = { code: 'declined', message: 'Jane', upstream: { message: 'Jane' } };
  expect(erased('esim.provisioning_failed', { execution_id: 'exec_1', error })).toEqual({
    ...{ execution_id: 'exec_1', error: { code: 'declined', message: 'Erased.' } },
  });
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

test('a stored answer has nothing that its client said, wherever in it, and where the eSIM was', () => {
  const personal = {
    reference: 'Jane',
    eid: '1',
    description: 'Jane',
    country: 'FR',
    metadata: { of: 'Jane' },
  };
  const left = { reference: null, eid: null, description: null, country: null, metadata: {} };
  const answer = { iccid, ...personal, data: [{ id: 'esim_1', ...personal }] };
  expect(JSON.parse(eraseAnswerBody(JSON.stringify(answer)))).toEqual({
    ...{ iccid, ...left },
    data: [{ id: 'esim_1', ...left }],
  });
});
