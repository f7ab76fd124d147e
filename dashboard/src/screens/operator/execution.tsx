import type { OperatorExecution } from '@simplane/sdk';
import { useQuery } from '@tanstack/react-query';
import { useIdInPath } from '../../account-path.ts';
import { useClients } from '../../client.ts';
import { Action } from '../../parts/action.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Iccid, Id } from '../../parts/id.tsx';
import { Json } from '../../parts/json.tsx';
import { Fact, Facts, PageHeader, Panel } from '../../parts/panel.tsx';
import { State } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { pollMs } from '../../queries.ts';
import { Link } from '../../router.tsx';
import { AccountLink } from './account-link.tsx';
import { Decided, ResolveOutcome } from './resolve-outcome.tsx';

/** An order as the operator sees it: steps, call ids, the network's words, and the decision if its outcome is unknown. */
export default function ExecutionScreen() {
  const { operator } = useClients();
  const id = useIdInPath();
  const { data, error } = useQuery({
    queryKey: ['operator', 'executions', id],
    queryFn: () => operator.executions.get(id),
    refetchInterval: pollMs,
  });
  if (error) return <ErrorNote error={error} />;
  if (!data) return <p className="empty">Loading…</p>;
  const isUnknown = data.error?.code === 'outcome_unknown' && data.resolution === null;
  const mayRetry =
    data.status === 'failed' ? !isUnknown && data.retried_by === undefined : data.next_attempt_at !== null;
  return (
    <>
      <PageHeader
        title={
          <>
            <Id id={data.id} /> <State status={data.status} />
          </>
        }
        above={<Link to="/executions">Orders</Link>}
      >
        {mayRetry && (
          <Action
            label={data.status === 'failed' ? 'Retry' : 'Retry now'}
            scope="operator"
            call={{ method: 'POST', path: `/v1/operator/executions/${data.id}/retry` }}
          />
        )}
      </PageHeader>
      <ExecutionFacts execution={data} />
      {data.waiting_for !== null && (
        <p className="notice">
          ◐ {data.waiting_for}{' '}
          {data.next_attempt_at !== null && (
            <>
              Next attempt <Time at={data.next_attempt_at} />.
            </>
          )}
        </p>
      )}
      {data.last_error && (
        <div className="error-note" role="status">
          <p>
            ✕ <code>{data.last_error.code}</code> {data.last_error.message}
          </p>
        </div>
      )}
      {isUnknown && <ResolveOutcome execution={data} />}
      {data.resolution && <Decided execution={data} resolution={data.resolution} />}
      <Panel title="Steps">
        <Table
          caption="Steps at the network"
          rows={data.steps}
          keyOf={({ name }) => name}
          empty="It has not reached the network."
          columns={[
            { name: 'Step', cell: ({ name }) => <code>{name}</code> },
            { name: 'Call id', cell: ({ function_call_identifier: call }) => <Id id={call} /> },
            {
              name: 'State',
              cell: ({ status }) => (
                <State
                  status={status === 'done' ? 'succeeded' : status === 'sent' ? 'running' : 'failed'}
                  word={status}
                />
              ),
            },
          ]}
        />
      </Panel>
      <Json value={data} />
    </>
  );
}

function ExecutionFacts({ execution }: { execution: OperatorExecution }) {
  const { account_id: account, iccid, retry_of: before, retried_by: after } = execution;
  return (
    <Facts>
      <Fact name="Account">
        <AccountLink id={account} />
      </Fact>
      <Fact name="Type">
        <code>{execution.type}</code>
      </Fact>
      <Fact name="Product">
        <code>{execution.product_id ?? '–'}</code>
      </Fact>
      <Fact name="eSIM">
        {iccid === null ? 'none' : <Iccid iccid={iccid} to={`/accounts/${account}/esims/${iccid}`} />}
      </Fact>
      <Fact name="Attempts">{execution.attempts}</Fact>
      <Fact name="Accepted">
        <Time at={execution.created} />
      </Fact>
      {before !== undefined && (
        <Fact name="Retry of">
          <Id id={before} to={`/executions/${before}`} />
        </Fact>
      )}
      {after !== undefined && (
        <Fact name="Retried by">
          <Id id={after} to={`/executions/${after}`} />
        </Fact>
      )}
    </Facts>
  );
}
