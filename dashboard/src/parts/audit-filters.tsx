import type { AuditEntry } from '@simplane/sdk';
import { auditActions } from '../audit-actions.ts';
import { usePlace } from '../router.tsx';
import { Filter, optionsOf, TextFilter } from './filter.tsx';
import { useCreated, WhenFilter } from './when-filter.tsx';

/** The filters of both audit logs, in the panel's head. */
export function AuditFilters() {
  return (
    <>
      <Filter name="action" label="Action" options={optionsOf(auditActions)} />
      <TextFilter name="target" label="Id" />
      <TextFilter name="actor" label="By key" />
      <WhenFilter />
    </>
  );
}

/** What they choose, as the parameters of the list. */
export function useAuditQuery() {
  const { query } = usePlace();
  const [action, target, actor] = [query.get('action'), query.get('target'), query.get('actor')];
  return {
    ...(action !== null && { action: action as AuditEntry['action'] }),
    ...(target !== null && { target }),
    ...(actor !== null && { actor }),
    ...useCreated(),
  };
}
