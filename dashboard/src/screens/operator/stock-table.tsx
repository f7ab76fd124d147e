import type { IccidRange } from '@simplane/sdk';
import { useQuery } from '@tanstack/react-query';
import { useClients } from '../../client.ts';
import { Meter } from '../../parts/bars.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { number } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { Table } from '../../parts/table.tsx';
import { pollMs } from '../../queries.ts';

const soonDays = 14;

export function StockTable() {
  const { operator } = useClients();
  const { data, error } = useQuery({
    queryKey: ['operator', 'iccid_ranges'],
    queryFn: async () => (await operator.iccidRanges.list()).data,
    refetchInterval: pollMs * 4,
  });
  return (
    <Panel title="ICCID stock" footer="At the pace of the last 7 days.">
      {error && <ErrorNote error={error} />}
      <Table<IccidRange>
        caption="ICCID ranges"
        rows={data ?? []}
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
          { name: 'Left', cell: ({ free }) => number(free), isNumber: true },
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
    </Panel>
  );
}
