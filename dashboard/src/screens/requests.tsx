import type { RequestLogEntry } from '@simplane/sdk';
import { useAccountPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { Breakable } from '../parts/breakable.tsx';
import { Filter, optionsOf, TextFilter } from '../parts/filter.tsx';
import { duration } from '../parts/format.ts';
import { Id } from '../parts/id.tsx';
import { PageHeader, Panel } from '../parts/panel.tsx';
import { Mark } from '../parts/state.tsx';
import { ListTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { useCreated, WhenFilter } from '../parts/when-filter.tsx';
import { pollMs } from '../queries.ts';
import { Link, setQuery, usePlace } from '../router.tsx';

export default function Requests() {
  const { api } = useClients();
  const at = useAccountPath();
  const { query } = usePlace();
  const [status, operation] = [query.get('status'), query.get('operation')];
  const via = query.get('via') ?? 'api';
  const filter = {
    ...(via !== 'all' && { via: via as RequestLogEntry['via'] }),
    ...(status !== null && { status }),
    ...(operation !== null && { operation }),
    ...useCreated(),
  };
  return (
    <>
      <PageHeader
        title="Request log"
        about="Every response has a Request-Id. Look it up here for seven days."
      />
      <Panel
        title="Requests"
        aside={
          <>
            <Via />
            <Filter name="status" label="Status" options={optionsOf(['2xx', '4xx', '5xx'])} />
            <TextFilter name="operation" label="Operation" />
            <WhenFilter />
          </>
        }
      >
        <ListTable<RequestLogEntry>
          caption="Requests, newest first"
          what="the requests"
          queryKey={['requests', filter]}
          pollMs={pollMs}
          read={(page) => api.requests.list({ ...page, ...filter })}
          keyOf={({ id }) => id}
          to={({ id }) => at(`/requests/${id}`)}
          empty="No request of your programs. By default, live mode logs only those that failed."
          columns={[
            { name: 'When', cell: ({ created }) => <Time at={created} />, isTime: true },
            {
              name: 'Status',
              cell: ({ status, error }) => (
                <span className={status >= 400 ? 'bad' : ''}>
                  <Mark shape={status >= 400 ? 'failed' : 'done'} /> {status}{' '}
                  {error && (
                    <code title={error.message}>
                      <Breakable text={error.code} />
                    </code>
                  )}
                </span>
              ),
            },
            {
              name: 'Request',
              isText: true,
              cell: ({ id, method, path }) => (
                <Link to={at(`/requests/${id}`)} className="subtle">
                  <code>
                    <Breakable text={`${method} ${path}`} />
                  </code>
                </Link>
              ),
            },
            { name: 'Duration', cell: ({ duration_ms: ms }) => duration(ms), isNumber: true },
            { name: 'Key', cell: ({ api_key: key }) => `${key.name} …${key.last4}`, isWide: true },
            { name: 'Id', cell: ({ id }) => <Id id={id} to={at(`/requests/${id}`)} />, isWide: true },
          ]}
        />
      </Panel>
    </>
  );
}

/** This page reads a lot, and would fill the log of a sandbox. */
function Via() {
  const { query } = usePlace();
  return (
    <label className="filter">
      <span>From</span>
      <select
        value={query.get('via') ?? 'api'}
        onChange={({ target: { value } }) => setQuery({ via: value === 'api' ? null : value, after: null })}
      >
        <option value="api">your programs</option>
        <option value="dashboard">the dashboard</option>
        <option value="agent">agents</option>
        <option value="all">all of them</option>
      </select>
    </label>
  );
}
