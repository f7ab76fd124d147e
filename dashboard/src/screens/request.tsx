import type { RequestLogEntry } from '@simplane/sdk';
import { useAccountPath, useIdInPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { Breakable } from '../parts/breakable.tsx';
import { duration } from '../parts/format.ts';
import { Id } from '../parts/id.tsx';
import { Json } from '../parts/json.tsx';
import { Fact, Facts, PageHeader } from '../parts/panel.tsx';
import { Shown, useReading } from '../parts/reading.tsx';
import { Time } from '../parts/time.tsx';
import { Link } from '../router.tsx';

/** One request: what it was, what was answered, and what to do about an error. */
export default function RequestScreen() {
  const { api } = useClients();
  const at = useAccountPath();
  const id = useIdInPath();
  const reading = useReading({
    queryKey: ['requests', id],
    queryFn: () => api.requests.get(id),
    isStatic: true,
  });
  const above = <Link to={at('/requests')}>Request log</Link>;
  return (
    <Shown of={reading} what="the request" before={<PageHeader title={<Id id={id} />} above={above} />}>
      {(request) => (
        <>
          <PageHeader
            title={
              <code>
                <Breakable text={`${request.method} ${request.path}`} />
              </code>
            }
            above={above}
          />
          <RequestFacts request={request} />
          {request.error && (
            <div className="error-note" role="status">
              <p>
                ✕ <a href={`/docs#error-${request.error.code}`}>{request.error.code}</a>{' '}
                {request.error.param !== undefined && <code>{request.error.param}</code>}{' '}
                {request.error.message}
              </p>
              <p>What to do: {request.error.remedy}</p>
            </div>
          )}
          <Json value={request} />
        </>
      )}
    </Shown>
  );
}

function RequestFacts({ request: data }: { request: RequestLogEntry }) {
  return (
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
  );
}
