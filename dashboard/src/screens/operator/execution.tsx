import type { OperatorExecution } from '@simplane/sdk';
import { useIdInPath } from '../../account-path.ts';
import { useClients } from '../../client.ts';
import { Action } from '../../parts/action.tsx';
import { Iccid, Id } from '../../parts/id.tsx';
import { Json } from '../../parts/json.tsx';
import { Fact, Facts, PageHeader, Panel } from '../../parts/panel.tsx';
import { Shown, useReading } from '../../parts/reading.tsx';
import { State } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';
import { Time, useNowSeconds } from '../../parts/time.tsx';
import { pollMs } from '../../queries.ts';
import { Link } from '../../router.tsx';
import { AccountLink } from './account-link.tsx';
import { forOperator } from './for-operator.ts';
import { Decided, ResolveOutcome } from './resolve-outcome.tsx';
import { whyWaiting } from './why-waiting.ts';

/** An order as the operator sees it: steps, call ids, the network's words, and the decision if its outcome is unknown. */
export default function ExecutionScreen() {
  const { operator } = useClients();
  const id = useIdInPath();
  const reading = useReading({
    queryKey: ['operator', 'executions', id],
    queryFn: () => operator.executions.get(id),
    pollMs,
  });
  const above = <Link to="/executions">Orders</Link>;
  return (
    <Shown of={reading} what="the order" before={<PageHeader title={<Id id={id} />} above={above} />}>
      {(execution) => (
        <>
          <PageHeader
            title={
              <>
                <Id id={execution.id} /> <State status={execution.status} />
              </>
            }
            above={above}
          >
            <Retry execution={execution} />
          </PageHeader>
          {execution.last_error && (
            <div className="error-note" role="status">
              <p>
                ✕ <code>{execution.last_error.code}</code> {forOperator(execution.last_error.message)}
              </p>
            </div>
          )}
          <Waiting execution={execution} />
          <ExecutionFacts execution={execution} />
          {isUnknown(execution) && <ResolveOutcome execution={execution} />}
          {execution.resolution && <Decided execution={execution} resolution={execution.resolution} />}
          <Steps execution={execution} />
          <Json value={execution} />
        </>
      )}
    </Shown>
  );
}

function isUnknown({ error, resolution }: OperatorExecution): boolean {
  return error?.code === 'outcome_unknown' && resolution === null;
}

function Retry({ execution }: { execution: OperatorExecution }) {
  const { id, status, retried_by: after, next_attempt_at: next } = execution;
  const mayRetry = status === 'failed' ? !isUnknown(execution) && after === undefined : next !== null;
  if (!mayRetry) return null;
  return (
    <Action
      label={status === 'failed' ? 'Retry' : 'Retry now'}
      scope="operator"
      call={{ method: 'POST', path: `/v1/operator/executions/${id}/retry` }}
    />
  );
}

/** Why an open order waits, for whoever runs the deployment: the API's words are for the account, which asks the operator. */
function Waiting({ execution }: { execution: OperatorExecution }) {
  const now = useNowSeconds();
  const { waiting_for: cause, next_attempt_at: next } = execution;
  if (cause === null) return null;
  return (
    <p className="notice" role="status">
      ◐ {whyWaiting(execution, now)}{' '}
      {next !== null && next > now && (
        <>
          Next attempt <Time at={next} />.
        </>
      )}{' '}
      <Link to="/processes">Processes</Link> · <Link to="/networks">Networks</Link>
    </p>
  );
}

function Steps({ execution: { steps } }: { execution: OperatorExecution }) {
  return (
    <Panel title="Steps">
      <Table
        caption="Steps at the network"
        rows={steps}
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
