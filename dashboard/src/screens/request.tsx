import { useQuery } from '@tanstack/react-query';
import { useAccountPath, useIdInPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { ErrorNote } from '../parts/error-note.tsx';
import { duration } from '../parts/format.ts';
import { Id } from '../parts/id.tsx';
import { Json } from '../parts/json.tsx';
import { Fact, Facts, PageHeader } from '../parts/panel.tsx';
import { Time } from '../parts/time.tsx';
import { Link } from '../router.tsx';

/** One request: what it was, what was answered, and what to do about an error. */
export default function RequestScreen() {
  const { api } = useClients();
  const at = useAccountPath();
  const id = useIdInPath();
  const { data, error } = useQuery({ queryKey: ['requests', id], queryFn: () => api.requests.get(id) });
  if (error) {
    return (
      <>
        <PageHeader title={<Id id={id} />} above={<Link to={at('/requests')}>Request log</Link>} />
        <ErrorNote error={error} />
      </>
    );
  }
  if (!data) return <p className="empty">Loading…</p>;
  return (
    <>
      <PageHeader
        title={
          <code>
            {data.method} {data.path}
          </code>
        }
        above={<Link to={at('/requests')}>Request log</Link>}
      />
      <Facts>
        <Fact name="Request">
          <Id id={data.id} />
        </Fact>
        <Fact name="Status">
          <span className={data.status >= 400 ? 'bad' : 'ok'}>
            {data.status >= 400 ? '✕' : '✓'} {data.status}
          </span>
        </Fact>
        <Fact name="When">
          <Time at={data.created} />
        </Fact>
        <Fact name="Duration">{duration(data.duration_ms)}</Fact>
        <Fact name="Key">
          {data.api_key.name} …{data.api_key.last4}
        </Fact>
        <Fact name="Idempotency">{data.idempotency ?? 'no key'}</Fact>
        {data.created_ids.length > 0 && (
          <Fact name="Created">
            {data.created_ids.map((made) => (
              <Id key={made} id={made} />
            ))}
          </Fact>
        )}
      </Facts>
      {data.error && (
        <div className="error-note" role="status">
          <p>
            ✕ <a href={`/docs#error-${data.error.code}`}>{data.error.code}</a>{' '}
            {data.error.param !== undefined && <code>{data.error.param}</code>} {data.error.message}
          </p>
          <p>What to do: {data.error.remedy}</p>
        </div>
      )}
      <Json value={data} />
    </>
  );
}
