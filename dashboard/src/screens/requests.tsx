import type { RequestLogEntry } from '@simplane/sdk';
import { useAccountPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { Filter } from '../parts/filter.tsx';
import { duration } from '../parts/format.ts';
import { Id } from '../parts/id.tsx';
import { PageHeader, Panel } from '../parts/panel.tsx';
import { Mark } from '../parts/state.tsx';
import { ListTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { pollMs } from '../queries.ts';
import { usePlace } from '../router.tsx';

const toOption = (value: string) => ({ value, label: value });

export default function Requests() {
  const { api } = useClients();
  const at = useAccountPath();
  const status = usePlace().query.get('status');
  return (
    <>
      <PageHeader
        title="Request log"
        about="Every response has a Request-Id. Look it up here for seven days."
      />
      <Panel
        title="Requests"
        aside={<Filter name="status" label="Status" options={['2xx', '4xx', '5xx'].map(toOption)} />}
      >
        <ListTable<RequestLogEntry>
          caption="Requests, newest first"
          queryKey={['requests', status]}
          pollMs={pollMs}
          read={(page) => api.requests.list({ ...page, ...(status !== null && { status }) })}
          keyOf={({ id }) => id}
          to={({ id }) => at(`/requests/${id}`)}
          empty="No requests. By default, live mode logs only requests that failed."
          columns={[
            { name: 'When', cell: ({ created }) => <Time at={created} />, isTime: true },
            {
              name: 'Request',
              cell: ({ method, path }) => (
                <code>
                  {method} {path}
                </code>
              ),
            },
            {
              name: 'Status',
              cell: ({ status, error }) => (
                <span className={status >= 400 ? 'bad' : ''}>
                  <Mark shape={status >= 400 ? 'failed' : 'done'} /> {status}{' '}
                  {error && <code>{error.code}</code>}
                </span>
              ),
            },
            { name: 'Duration', cell: ({ duration_ms: ms }) => duration(ms), isNumber: true },
            { name: 'Key', cell: ({ api_key: key }) => `${key.name} …${key.last4}`, isWide: true },
            { name: 'Id', cell: ({ id }) => <Id id={id} to={at(`/requests/${id}`)} /> },
          ]}
        />
      </Panel>
    </>
  );
}
