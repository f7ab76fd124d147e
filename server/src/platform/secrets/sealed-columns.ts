import {
  confirmationCodePlace,
  esimMatchingIdPlace,
  orderMatchingIdPlace,
  type Place,
  signingSecretPlace,
  storedAnswerPlace,
} from './sealed-places.ts';

/** A column with sealed values; the strings are SQL. */
export type SealedColumn = {
  id: string;
  table: string;
  /** The primary key, the account first. */
  key: { name: string; type: 'uuid' | 'text' }[];
  /** The stored value, as text. */
  value: string;
  /** Writes `given.new_value`; if that is null, deletes the value. */
  set: string;
  /** Identifies the row in its place. */
  row: string;
  /** Excludes rows whose value is never opened again. */
  condition?: string;
  /** The value is no longer needed, so it is deleted instead of sealed again. */
  isOver?: string;
  place(found: { key: string[]; row: string }): Place;
};

const account = { name: 'account_id', type: 'uuid' } as const;
const id = { name: 'id', type: 'uuid' } as const;

const matchingIdOfOrder = {
  key: [account, id],
  value: `(progress ->> 'matching_id')`,
  set: `progress = case when given.new_value is null then progress - 'matching_id'
                        else jsonb_set(progress, '{matching_id}', to_jsonb(given.new_value)) end`,
  row: 'id::text',
  place: ({ key: [accountUuid = '', uuid = ''] }) => orderMatchingIdPlace(accountUuid, uuid),
} satisfies Omit<SealedColumn, 'id' | 'table'>;

export const sealedColumns: SealedColumn[] = [
  {
    id: 'signing_secrets',
    table: 'webhook_secrets',
    key: [account, { name: 'endpoint_id', type: 'uuid' }, id],
    value: 'sealed',
    set: 'sealed = given.new_value',
    row: 'id::text',
    condition: '(expires_at is null or expires_at > now())',
    place: ({ key: [accountUuid = '', endpointUuid = '', uuid = ''] }) =>
      signingSecretPlace(accountUuid, endpointUuid, uuid),
  },
  {
    id: 'stored_answers',
    table: 'idempotency_keys',
    key: [account, { name: 'key', type: 'text' }],
    value: 'body',
    set: 'body = given.new_value',
    row: 'key',
    condition: 'is_sealed and expires_at > now()',
    place: ({ key: [accountUuid = '', key = ''] }) => storedAnswerPlace(accountUuid, key),
  },
  {
    id: 'confirmation_codes',
    table: 'execution_queue',
    key: [account, id],
    value: `(input ->> 'sealed_confirmation_code')`,
    set: `input = jsonb_set(input, '{sealed_confirmation_code}', to_jsonb(given.new_value))`,
    row: 'id::text',
    place: ({ key: [accountUuid = '', uuid = ''] }) => confirmationCodePlace(accountUuid, uuid),
  },
  // Before ended orders, so that an order that ends between the two passes is found by the second.
  {
    id: 'matching_ids_of_open_orders',
    table: 'execution_queue',
    ...matchingIdOfOrder,
  },
  {
    id: 'matching_ids_of_orders',
    table: 'executions',
    ...matchingIdOfOrder,
    // Once an order has succeeded, the matching id is stored with its eSIM.
    isOver: `status = 'succeeded'`,
  },
  {
    id: 'matching_ids_of_esims',
    table: 'esims',
    key: [account, id],
    value: 'matching_id',
    set: 'matching_id = given.new_value',
    row: 'iccid',
    place: ({ key: [accountUuid = ''], row }) => esimMatchingIdPlace(accountUuid, row),
  },
];
