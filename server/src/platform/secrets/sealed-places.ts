/** Where a secret is stored. A sealed value is bound to its place and opens at no other. */
export type Place = {
  accountUuid: string;
  table: string;
  row: string;
  purpose: string;
  /** Earlier releases stored it unencrypted. */
  wasPlain?: true;
};

function placeOf(accountUuid: string, table: string, row: string, purpose: string): Place {
  return { accountUuid: bare(accountUuid), table, row, purpose };
}

export function signingSecretPlace(accountUuid: string, endpointUuid: string, secretUuid: string): Place {
  const row = `${bare(endpointUuid)}/${bare(secretUuid)}`;
  return placeOf(accountUuid, 'webhook_secrets', row, 'signing_secret');
}

export function storedAnswerPlace(accountUuid: string, key: string): Place {
  return placeOf(accountUuid, 'idempotency_keys', key, 'stored_answer');
}

/** Bound to the order, not to a table: the sealed values move with its row from the queue to the history. */
export function confirmationCodePlace(accountUuid: string, executionUuid: string): Place {
  return placeOf(accountUuid, 'executions', bare(executionUuid), 'confirmation_code');
}

/** The matching id used to carry out an order. */
export function orderMatchingIdPlace(accountUuid: string, executionUuid: string): Place {
  return { ...placeOf(accountUuid, 'executions', bare(executionUuid), 'matching_id'), wasPlain: true };
}

/** The matching id used to install an eSIM. The row is its ICCID, which never changes and is never reused. */
export function esimMatchingIdPlace(accountUuid: string, iccid: string): Place {
  return { ...placeOf(accountUuid, 'esims', iccid, 'matching_id'), wasPlain: true };
}

/** PostgreSQL writes a uuid with dashes, Simplane without. */
function bare(uuid: string): string {
  return uuid.replaceAll('-', '');
}
