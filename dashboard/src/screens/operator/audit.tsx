import type { AuditEntry } from '@simplane/sdk';
import { useClients } from '../../client.ts';
import { AuditTable } from '../../parts/audit-table.tsx';
import { TextFilter } from '../../parts/filter.tsx';
import { Id } from '../../parts/id.tsx';
import { PageHeader, Panel } from '../../parts/panel.tsx';
import { usePlace } from '../../router.tsx';

type Entry = AuditEntry & { account_id: string | null };

export default function OperatorAudit() {
  const { operator } = useClients();
  const { query } = usePlace();
  const [action, target] = [query.get('action'), query.get('target')];
  return (
    <>
      <PageHeader title="Audit log" about="Entries of all accounts and of the deployment." />
      <Panel
        title="Entries"
        aside={
          <>
            <TextFilter name="action" label="Action" />
            <TextFilter name="target" label="Id" />
          </>
        }
      >
        <AuditTable<Entry>
          queryKey={['operator', 'audit_log', action, target]}
          read={(page) =>
            operator.auditLog.list({
              ...page,
              ...(action !== null && { action: action as AuditEntry['action'] }),
              ...(target !== null && { target }),
            })
          }
          extra={[
            {
              name: 'Account',
              cell: ({ account_id: id }) => (id === null ? '–' : <Id id={id} to={`/accounts/${id}`} />),
            },
          ]}
        />
      </Panel>
    </>
  );
}
