import type { OperatorExecution } from '@simplane/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
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
        about={<Link to="/executions">Orders</Link>}
      >
        {mayRetry && (
          <Action
            label={data.status === 'failed' ? 'Order again' : 'Try now'}
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
      {isUnknown && <Resolve execution={data} />}
      {data.resolution && (
        <Panel title="Decided">
          <div className="body">
            <p>
              {data.resolution.outcome === 'reserved' ? 'A profile was reserved' : 'No profile was reserved'}
              {data.resolution.then !== null && `, then: ${data.resolution.then}`}. By{' '}
              {data.resolution.decided_by.name ?? data.resolution.decided_by.type}.{' '}
              <State
                status={data.resolution.status === 'closed' ? 'succeeded' : 'running'}
                word={data.resolution.status}
              />
            </p>
            {data.resolution.error && <p className="bad">✕ {data.resolution.error.message}</p>}
          </div>
        </Panel>
      )}
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
        <Id id={account} to={`/accounts/${account}`} />
      </Fact>
      <Fact name="What">
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
        <Fact name="Repeats">
          <Id id={before} to={`/executions/${before}`} />
        </Fact>
      )}
      {after !== undefined && (
        <Fact name="Repeated by">
          <Id id={after} to={`/executions/${after}`} />
        </Fact>
      )}
    </Facts>
  );
}

/** The answer to an order was lost. Only the SM-DP+ knows whether it reserved a profile, so a person looks there and decides. */
function Resolve({ execution }: { execution: OperatorExecution }) {
  const [iccid, setIccid] = useState('');
  const path = `/v1/operator/executions/${execution.id}/resolve`;
  const call = execution.steps.at(-1)?.function_call_identifier;
  return (
    <Panel title="The outcome is unknown: decide it">
      <div className="body form">
        <p>
          The order was sent and its answer was lost. Look up the call id{' '}
          {call !== undefined && <Id id={call} />} at the SM-DP+, then choose.
        </p>
        <Action
          label="It reserved nothing"
          scope="operator"
          call={{ method: 'POST', path, body: { outcome: 'not_reserved' } }}
        />
        <label>
          It reserved the profile with this ICCID
          <input
            value={iccid}
            inputMode="numeric"
            autoComplete="off"
            onChange={(event) => setIccid(event.target.value.trim())}
          />
        </label>
        <div className="row">
          <Action
            label="Go on with it"
            kind="main"
            scope="operator"
            call={{ method: 'POST', path, body: decision('adopt', iccid) }}
          />
          <Action
            label="Give it back"
            scope="operator"
            call={{ method: 'POST', path, body: decision('cancel', iccid) }}
          />
        </div>
      </div>
    </Panel>
  );
}

const decision = (then: 'adopt' | 'cancel', iccid: string) => ({ outcome: 'reserved', iccid, then });
