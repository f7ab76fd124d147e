import type { IccidRange } from '@simplane/sdk';
import { useClients } from '../../client.ts';
import { Meter } from '../../parts/bars.tsx';
import { number } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { Shown, useReading } from '../../parts/reading.tsx';
import { State } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';
import { pollMs } from '../../queries.ts';
import { Link } from '../../router.tsx';

const soonDays = 14;

export function StockTable() {
  const { operator } = useClients();
  const reading = useReading({
    queryKey: ['operator', 'iccid_ranges'],
    queryFn: async () => (await operator.iccidRanges.list()).data,
    pollMs: pollMs * 4,
  });
  return (
    <Panel title="ICCID stock" footer="At the pace of the last 7 days.">
      <Shown of={reading} what="the ICCID stock">
        {(ranges) => (
          <>
            <RunsOut ranges={ranges} />
            <Ranges ranges={ranges} />
          </>
        )}
      </Shown>
    </Panel>
  );
}

function Ranges({ ranges }: { ranges: IccidRange[] }) {
  return (
    <Table<IccidRange>
      caption="ICCID ranges"
      rows={ranges}
      keyOf={({ first }) => first}
      empty="The SM-DP+ chooses the ICCIDs, or no worker has reported yet."
      columns={[
        { name: 'From', cell: ({ first }) => <code>{first}</code> },
        { name: 'To', cell: ({ last }) => <code>{last}</code>, isWide: true },
        {
          name: 'Used',
          cell: ({ taken, size }) => (
            <Meter
              share={taken / size}
              isWarning={taken / size > 0.9}
              label={`${number(taken)} of ${number(size)} used`}
            />
          ),
        },
        {
          name: 'Left',
          cell: ({ free }) => (free === 0 ? <State status="failed" word="Empty" /> : number(free)),
          isNumber: true,
        },
        {
          name: 'Last week',
          cell: ({ taken_last_week: week }) => (week === null ? '–' : number(week)),
          isNumber: true,
        },
        {
          name: 'Lasts',
          isNumber: true,
          cell: ({ days_left: days }) =>
            days === null ? (
              '–'
            ) : (
              <span className={days < soonDays ? 'warn' : ''}>
                {days < soonDays && '▲ '}
                {Math.floor(days)} d
              </span>
            ),
        },
      ]}
    />
  );
}

/** Ranges are used one after the other, so the last one tells when there is nothing left. */
function RunsOut({ ranges }: { ranges: IccidRange[] }) {
  const days = ranges.at(-1)?.days_left ?? null;
  const isEmpty = ranges.length > 0 && ranges.every(({ free }) => free === 0);
  if (!isEmpty && (days === null || days >= soonDays)) return null;
  return (
    <div className="body">
      <p className="notice" role="status">
        ▲ {isEmpty ? 'No ICCID is left: new orders fail.' : `The ICCIDs last for ${inDays(days ?? 0)}.`} Add a
        range to <code>SIMPLANE_ICCID_RANGES</code> and restart the workers
        {isEmpty ? (
          <>
            , then retry the <Link to="/executions?error_code=out_of_stock">orders that failed</Link>.
          </>
        ) : (
          '.'
        )}
      </p>
    </div>
  );
}

function inDays(days: number): string {
  if (days < 1) return 'less than a day';
  return days === 1 ? '1 day' : `${days} days`;
}
