import type { FailureGroup } from '@simplane/sdk';
import { useClients } from '../../client.ts';
import { Action } from '../../parts/action.tsx';
import { number } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { AllWell, Shown, useReading } from '../../parts/reading.tsx';
import { State } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { pollMs } from '../../queries.ts';
import { Link } from '../../router.tsx';
import { forOperator } from './for-operator.ts';

/** What fails and waits, by cause, with what to do. */
export function FailureGroups() {
  const { operator } = useClients();
  const reading = useReading({
    queryKey: ['operator', 'failure_groups'],
    queryFn: async () => (await operator.failureGroups.list()).data,
    pollMs,
  });
  return (
    <Panel title="Failures, by cause">
      <Shown of={reading} what="the failures">
        {(groups) => <GroupTable groups={groups} />}
      </Shown>
    </Panel>
  );
}

function GroupTable({ groups }: { groups: FailureGroup[] }) {
  return (
    <Table<FailureGroup>
      caption="Failed and waiting orders by cause"
      rows={groups}
      keyOf={({ id }) => id}
      empty={<AllWell>No order has failed or waits for the network.</AllWell>}
      columns={[
        { name: 'Orders', cell: (group) => <Counts group={group} /> },
        {
          name: 'Cause',
          cell: ({ code, network, upstream_code: upstream }) => (
            <>
              <Link to={`/executions?error_code=${code}`}>
                <code>{code}</code>
              </Link>{' '}
              <span className="quiet">
                {network} {upstream}
              </span>
            </>
          ),
        },
        {
          name: 'Message',
          cell: ({ message }) => <span className="foreign">{forOperator(message)}</span>,
          isWide: true,
        },
        { name: 'What to do', cell: ({ remedy }) => remedy, isText: true },
        { name: 'Oldest', cell: ({ oldest }) => <Time at={oldest} />, isTime: true },
        { name: 'Action', cell: (group) => <Then group={group} /> },
      ]}
    />
  );
}

function Counts({ group: { failed, waiting } }: { group: FailureGroup }) {
  return (
    <>
      {failed > 0 && <State status="failed" word={`${number(failed)} failed`} />}{' '}
      {waiting > 0 && <State status="running" word={`${number(waiting)} waiting`} />}
    </>
  );
}

function Then({ group: { id, code, executions, retry } }: { group: FailureGroup }) {
  const [first] = executions;
  if (code === 'outcome_unknown' && first !== undefined)
    return <Link to={`/executions/${first}`}>Resolve…</Link>;
  if (retry?.status === 'testing' || retry?.status === 'running')
    return <State status="running" word={`Retrying, ${number(retry.retried)} so far`} />;
  return (
    <>
      <Action
        label="Retry group"
        scope="operator"
        call={{ method: 'POST', path: `/v1/operator/failure_groups/${id}/retry` }}
      />
      {retry?.status === 'stopped' && (
        <p className="quiet">
          The last retry stopped: <Link to={`/executions/${retry.execution_id}`}>its first order</Link> failed
          again.
        </p>
      )}
    </>
  );
}
