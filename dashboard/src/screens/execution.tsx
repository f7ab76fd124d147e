import { useQuery } from '@tanstack/react-query';
import { useAccountPath, useIdInPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { ErrorNote } from '../parts/error-note.tsx';
import { Iccid, Id } from '../parts/id.tsx';
import { Json } from '../parts/json.tsx';
import { Fact, Facts, PageHeader } from '../parts/panel.tsx';
import { State } from '../parts/state.tsx';
import { Time } from '../parts/time.tsx';
import { Link } from '../router.tsx';

/** One order or change, until it has ended. */
export default function ExecutionScreen() {
  const { api } = useClients();
  const at = useAccountPath();
  const id = useIdInPath();
  const { data, error } = useQuery({
    queryKey: ['executions', id],
    queryFn: () => api.executions.get(id),
    refetchInterval: ({ state }) => (state.data?.finished_at == null ? 1_000 : false),
  });
  if (error) return <ErrorNote error={error} />;
  if (!data) return <p className="empty">Loading…</p>;
  return (
    <>
      <PageHeader
        title={
          <>
            <Id id={data.id} /> <State status={data.status} />
          </>
        }
        above={<Link to={at('/esims?view=orders')}>Orders</Link>}
      />
      <Facts>
        <Fact name="Type">
          <code>{data.type}</code>
        </Fact>
        <Fact name="Product">{data.product_id === null ? '–' : <code>{data.product_id}</code>}</Fact>
        <Fact name="eSIM">
          {data.iccid === null ? (
            'not known yet'
          ) : (
            <Iccid iccid={data.iccid} to={at(`/esims/${data.iccid}`)} />
          )}
        </Fact>
        <Fact name="Attempts">{data.attempts}</Fact>
        <Fact name="Accepted">
          <Time at={data.created} />
        </Fact>
        {data.finished_at !== null && (
          <Fact name="Ended">
            <Time at={data.finished_at} />
          </Fact>
        )}
      </Facts>
      {data.waiting_for !== null && (
        <p className="notice">
          ◐ {data.waiting_for}{' '}
          {data.next_attempt_at !== null && (
            <>
              Next attempt: <Time at={data.next_attempt_at} />.
            </>
          )}
        </p>
      )}
      {data.error && (
        <div className="error-note" role="status">
          <p>
            ✕ <code>{data.error.code}</code> {data.error.message}
          </p>
        </div>
      )}
      <Json value={data} />
    </>
  );
}
