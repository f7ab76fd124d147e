/** A condition on the owner of the key `k`, with the account as `$1` (null: operators), and the end of the statement's name. */
export function ownedBy(accountUuid: string | null): { condition: string; suffix: string } {
  return accountUuid === null
    ? { condition: '$1::uuid is null and k.account_id is null', suffix: '_of_operator' }
    : { condition: 'k.account_id = $1', suffix: '' };
}
