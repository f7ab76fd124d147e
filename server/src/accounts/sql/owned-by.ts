/** A condition on the owner of a key, with the account as `$1`, and the end of the statement's name. */
export function ownedBy(accountUuid: string | null): { condition: string; suffix: string } {
  return accountUuid === null
    ? { condition: '$1::uuid is null and account_id is null', suffix: '_of_operator' }
    : { condition: 'account_id = $1', suffix: '' };
}
