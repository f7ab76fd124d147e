import type { AuditEntry } from '@simplane/sdk';
import { mayDo, useClients } from '../client.ts';
import { AuditTable } from '../parts/audit-table.tsx';
import { TextFilter } from '../parts/filter.tsx';
import { PageHeader, Panel } from '../parts/panel.tsx';
import { usePlace } from '../router.tsx';

export default function Audit() {
  const clients = useClients();
  const { query } = usePlace();
  const [action, target] = [query.get('action'), query.get('target')];
  if (!mayDo(clients, 'admin') && !clients.isOperator) {
    return (
      <>
        <PageHeader title="Audit log" />
        <p className="notice">Reading the audit log needs a key with the scope “admin”.</p>
      </>
    );
  }
  return (
    <>
      <PageHeader title="Audit log" about="Who changed what in this account. Entries are kept for a year." />
      <Panel
        title="Entries"
        aside={
          <>
            <TextFilter name="action" label="Action" />
            <TextFilter name="target" label="Id" />
          </>
        }
      >
        <AuditTable<AuditEntry>
          queryKey={['audit_log', action, target]}
          read={(page) =>
            clients.api.auditLog.list({
              ...page,
              ...(action !== null && { action: action as AuditEntry['action'] }),
              ...(target !== null && { target }),
            })
          }
        />
      </Panel>
    </>
  );
}
