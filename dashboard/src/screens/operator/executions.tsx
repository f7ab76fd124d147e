import type { OperatorExecution } from '@simplane/sdk';
import { useClients } from '../../client.ts';
import { Filter, optionsOf, TextFilter } from '../../parts/filter.tsx';
import { Id } from '../../parts/id.tsx';
import { PageHeader, Panel } from '../../parts/panel.tsx';
import { State } from '../../parts/state.tsx';
import { ListTable } from '../../parts/table.tsx';
import { Time, useNowSeconds } from '../../parts/time.tsx';
import { pollMs } from '../../queries.ts';
import { usePlace } from '../../router.tsx';
import { AccountLink } from './account-link.tsx';
import { whyWaiting } from './why-waiting.ts';

type ErrorCode = NonNullable<OperatorExecution['error']>['code'];

export default function Executions() {
  const { operator } = useClients();
  const { query } = usePlace();
  const [status, code, account] = [query.get('status'), query.get('error_code'), query.get('account_id')];
  return (
    <>
      <PageHeader title="Orders" about="Orders and changes of all accounts." />
      <Panel
        title="Executions"
        aside={
          <>
            <Filter
              name="status"
              label="Status"
              options={optionsOf(['queued', 'running', 'succeeded', 'failed'])}
            />
            <Filter
              name="error_code"
              label="Error"
              options={optionsOf([
                'outcome_unknown',
                'network_unavailable',
                'out_of_stock',
                'declined',
                'internal',
              ])}
            />
            <TextFilter name="account_id" label="Account id" />
          </>
        }
      >
        <ListTable<OperatorExecution>
          caption="Executions, newest first"
          what="the orders"
          queryKey={['operator', 'executions', status, code, account]}
          pollMs={pollMs}
          read={(page) =>
            operator.executions.list({
              ...page,
              ...(status !== null && { status: status as OperatorExecution['status'] }),
              ...(code !== null && { error_code: code as ErrorCode }),
              ...(account !== null && { account_id: account }),
            })
          }
          keyOf={({ id }) => id}
          to={({ id }) => `/executions/${id}`}
          empty="No order yet."
          columns={[
            { name: 'Execution', cell: ({ id }) => <Id id={id} to={`/executions/${id}`} /> },
            { name: 'Type', cell: ({ type }) => <code>{type}</code> },
            {
              name: 'Status',
              cell: ({ status, error }) => (
                <>
                  <State status={status} /> {error && <code className="bad">{error.code}</code>}
                </>
              ),
            },
            { name: 'Account', cell: ({ account_id: id }) => <AccountLink id={id} /> },
            { name: 'Waiting', cell: (execution) => <Waiting execution={execution} />, isWide: true },
            { name: 'Created', cell: ({ created }) => <Time at={created} />, isTime: true },
          ]}
        />
      </Panel>
    </>
  );
}

function Waiting({ execution }: { execution: OperatorExecution }) {
  const now = useNowSeconds();
  return execution.waiting_for === null ? '–' : whyWaiting(execution, now);
}
