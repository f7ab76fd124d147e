import type { OperatorOverview as Overview } from '@simplane/sdk';
import { useQuery } from '@tanstack/react-query';
import { useClients } from '../../client.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { duration, number, span } from '../../parts/format.ts';
import { Funnel } from '../../parts/funnel.tsx';
import { PageHeader, Panel } from '../../parts/panel.tsx';
import { Time } from '../../parts/time.tsx';
import { pollMs } from '../../queries.ts';
import { Link } from '../../router.tsx';
import { FailingEndpoints } from './failing-endpoints.tsx';
import { FailureGroups } from './failure-groups.tsx';
import { NetworkTable } from './network-table.tsx';
import { StockTable } from './stock-table.tsx';

const rates = {
  requests: 'Requests',
  executions_succeeded: 'Orders succeeded',
  executions_failed: 'Orders failed',
  attempts_succeeded: 'Attempts succeeded',
  attempts_failed: 'Attempts failed',
} as const;

/** What an operator keeps open: rates, backlogs, what fails and what to do, networks and stock. */
export default function OperatorOverview() {
  const { operator } = useClients();
  const { data, error } = useQuery({
    queryKey: ['operator', 'overview'],
    queryFn: () => operator.overview(),
    refetchInterval: pollMs,
  });
  return (
    <>
      <PageHeader
        title="Overview"
        about={
          data && (
            <>
              as of <Time at={data.as_of} />
            </>
          )
        }
      />
      {error && <ErrorNote error={error} />}
      {data && <ClocksOff clocks={data.clocks_off} />}
      {data && (
        <Panel title="The last minute">
          <div className="funnel figures">
            {(Object.keys(rates) as (keyof typeof rates)[]).map((name) => (
              <div key={name}>
                <p className="quiet">{rates[name]}</p>
                <p className="figure">{number(data.rates[name].last_minute)}</p>
                <p className="quiet">{number(data.rates[name].last_hour)} in the last hour</p>
              </div>
            ))}
            <Backlog name="Orders waiting" backlog={data.backlogs.executions} />
            <Backlog name="Deliveries waiting" backlog={data.backlogs.deliveries} />
          </div>
        </Panel>
      )}
      <FailureGroups />
      <FailingEndpoints />
      {data && (
        <Panel title="Orders of the last day, all accounts">
          <Funnel overview={{ ...data, open_count: data.backlogs.executions.count }} />
        </Panel>
      )}
      <NetworkTable />
      <StockTable />
    </>
  );
}

function ClocksOff({ clocks }: { clocks: Overview['clocks_off'] }) {
  if (clocks.length === 0) return null;
  const worst = Math.max(...clocks.map(({ clock_skew_ms: ms }) => Math.abs(ms)));
  return (
    <p className="notice" role="status">
      ▲ The clock of{' '}
      <Link to="/processes">{clocks.length === 1 ? 'one process' : `${clocks.length} processes`}</Link> is up
      to {duration(worst)} off PostgreSQL’s. Run NTP on both machines: beyond 30 s, a process does no
      background work.
    </p>
  );
}

type Waiting = { count: number; oldest_due_seconds: number };

function Backlog({ name, backlog: { count, oldest_due_seconds: age } }: { name: string; backlog: Waiting }) {
  const isOld = age >= 60;
  return (
    <div>
      <p className="quiet">{name}</p>
      <p className="figure">{number(count)}</p>
      <p className={isOld ? 'warn' : 'quiet'}>
        {count === 0 ? 'nothing is due' : `${isOld ? '▲ ' : ''}oldest due ${span(age)}`}
      </p>
    </div>
  );
}
