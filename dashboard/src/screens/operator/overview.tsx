import type { OperatorOverview as Overview } from '@simplane/sdk';
import { useClients } from '../../client.ts';
import { describeMissing, nameOfCell } from '../../parts/cells.ts';
import { duration, number, span } from '../../parts/format.ts';
import { Funnel } from '../../parts/funnel.tsx';
import { PageHeader, Panel } from '../../parts/panel.tsx';
import { peek, Shown, useReading } from '../../parts/reading.tsx';
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
  const reading = useReading({
    queryKey: ['operator', 'overview'],
    queryFn: () => operator.overview(),
    pollMs,
  });
  const known = peek(reading);
  return (
    <>
      <PageHeader
        title="Overview"
        about={
          known && (
            <>
              as of <Time at={known.as_of} />
            </>
          )
        }
      />
      {known && <OfCells cells={known.cells} />}
      {known && <ClocksOff clocks={known.clocks_off} />}
      <Panel title="The last minute">
        <Shown of={reading} what="the figures">
          {(overview) => <Figures overview={overview} />}
        </Shown>
      </Panel>
      <FailureGroups />
      <FailingEndpoints />
      <Panel title="Orders of the last day, all accounts">
        <Shown of={reading} what="the figures">
          {(overview) => (
            <Funnel overview={{ ...overview, open_count: overview.backlogs.executions.count }} />
          )}
        </Shown>
      </Panel>
      <NetworkTable />
      <StockTable />
    </>
  );
}

function Figures({ overview: { rates: counts, backlogs } }: { overview: Overview }) {
  return (
    <div className="funnel figures">
      {(Object.keys(rates) as (keyof typeof rates)[]).map((name) => (
        <div key={name}>
          <p className="quiet">{rates[name]}</p>
          <p className="figure">{number(counts[name].last_minute)}</p>
          <p className="quiet">{number(counts[name].last_hour)} in the last hour</p>
        </div>
      ))}
      <Backlog name="Orders waiting" backlog={backlogs.executions} />
      <Backlog name="Deliveries waiting" backlog={backlogs.deliveries} />
    </div>
  );
}

/** What the figures lack, and which parts of the page are of this cell alone. */
function OfCells({ cells }: { cells: Overview['cells'] }) {
  const [own] = cells ?? [];
  if (!own || cells?.length === 1) return null;
  const missing = describeMissing(cells);
  return (
    <>
      {missing && (
        <p className="notice" role="status">
          ▲ {missing} The figures are of the others only.
        </p>
      )}
      <p className="quiet">
        The figures are of {missing ? 'the cells that answered' : `all ${cells?.length} cells`}; failures to
        decide on, endpoints, networks and stock are of {nameOfCell(own.cell)} only.
      </p>
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
