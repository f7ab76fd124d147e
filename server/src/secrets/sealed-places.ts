/** Where a secret is stored. Sealed values are bound to it: none opens at another. */
export type Place = {
  accountUuid: string;
  table: string;
  row: string;
  purpose: string;
  /** Earlier releases stored it in the clear. */
  wasPlain?: true;
};

export function signingSecretPlace(accountUuid: string, endpointUuid: string, secretUuid: string): Place {
  return {
    accountUuid: bare(accountUuid),
    table: 'webhook_secrets',
    row: `${bare(endpointUuid)}/${bare(secretUuid)}`,
    purpose: 'signing_secret',
  };
}

export function storedAnswerPlace(accountUuid: string, key: string): Place {
  return { accountUuid: bare(accountUuid), table: 'idempotency_keys', row: key, purpose: 'stored_answer' };
}

export function confirmationCodePlace(accountUuid: string, executionUuid: string): Place {
  return {
    accountUuid: bare(accountUuid),
    table: 'executions',
    row: bare(executionUuid),
    purpose: 'confirmation_code',
  };
}

/** The one that an order is carried out with. */
export function orderMatchingIdPlace(accountUuid: string, executionUuid: string): Place {
  return {
    accountUuid: bare(accountUuid),
    table: 'executions',
    row: bare(executionUuid),
    purpose: 'matching_id',
    wasPlain: true,
  };
}

/** The one that an eSIM is installed with. By its ICCID, which never changes and is never used again. */
export function esimMatchingIdPlace(accountUuid: string, iccid: string): Place {
  return {
    accountUuid: bare(accountUuid),
    table: 'esims',
    row: iccid,
    purpose: 'matching_id',
    wasPlain: true,
  };
}

/** PostgreSQL writes a uuid with dashes, this program without. */
function bare(uuid: string): string {
  return uuid.replaceAll('-', '');
}
