/** Selects `list`: the secrets of the endpoint `e` that sign at `now`, each `<id>:<sealed>`, newest first, separated by spaces. */
export function liveSecrets(now: string): string {
  return `
    select coalesce(string_agg(s.id || ':' || s.sealed, ' ' order by coalesce(s.expires_at, 'infinity') desc, s.id desc), '') as list
    from webhook_secrets s
    where s.account_id = e.account_id and s.endpoint_id = e.id and (s.expires_at is null or s.expires_at > ${now})`;
}
