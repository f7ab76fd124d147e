import type { DeliveryAttempt, WebhookEndpointStats } from '@simplane/sdk';
import { useAccountPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { Bars } from '../parts/bars.tsx';
import { everyHour } from '../parts/every-hour.ts';
import { Filter } from '../parts/filter.tsx';
import { duration } from '../parts/format.ts';
import { Id } from '../parts/id.tsx';
import { Panel } from '../parts/panel.tsx';
import { Shown, useReading } from '../parts/reading.tsx';
import { Said } from '../parts/said.tsx';
import { State } from '../parts/state.tsx';
import { ListTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { pollMs } from '../queries.ts';
import { usePlace } from '../router.tsx';

export function Stats({ id }: { id: string }) {
  const { api } = useClients();
  const reading = useReading({
    queryKey: ['stats', id],
    queryFn: () => api.webhookEndpoints.stats(id),
    pollMs: pollMs * 4,
  });
  return (
    <Panel title="Attempts per hour, last day">
      <div className="body">
        <Shown of={reading} what="the statistics">
          {(stats) => <Hours stats={stats} />}
        </Shown>
      </div>
    </Panel>
  );
}

function Hours({ stats }: { stats: WebhookEndpointStats }) {
  const { succeeded_count: good, failed_count: bad, p50_ms: p50, p99_ms: p99 } = stats;
  const hours = everyHour(stats, Date.now() / 1_000);
  const finding = `${good} attempts succeeded and ${bad} failed`;
  return (
    <>
      <p className="quiet">
        {p50 === null ? 'No attempt in the last day.' : `${finding}. Median duration ${duration(p50)}`}
        {p99 !== null && `, 99th percentile ${duration(p99)}.`}
      </p>
      <Bars
        counts={hours.map(({ succeeded, failed }) => succeeded + failed)}
        failed={hours.map(({ failed }) => failed)}
        finding={finding}
      />
    </>
  );
}

export function Attempts({ id }: { id: string }) {
  const { api } = useClients();
  const at = useAccountPath();
  const { query } = usePlace();
  const outcome = query.get('outcome') as 'succeeded' | 'failed' | null;
  return (
    <Panel
      title="Attempts"
      aside={
        <Filter
          name="outcome"
          label="Outcome"
          options={[
            { value: 'failed', label: 'failed' },
            { value: 'succeeded', label: 'succeeded' },
          ]}
        />
      }
    >
      <ListTable<DeliveryAttempt>
        caption="Attempts, those of the newest delivery first"
        what="the attempts"
        queryKey={['attempts', id, outcome]}
        pollMs={pollMs}
        read={(page) => api.webhookEndpoints.attempts(id, { ...page, ...(outcome !== null && { outcome }) })}
        keyOf={({ delivery_id: delivery, number }) => `${delivery} ${number}`}
        to={({ event_id: event }) => at(`/events/${event}`)}
        empty="No attempt yet."
        columns={[
          { name: 'When', cell: ({ at }) => <Time at={at} />, isTime: true },
          {
            name: 'Response',
            cell: ({ outcome, status_code: status, error, response }) => (
              <>
                <State status={outcome} word={String(status ?? error)} /> <Said text={response} />
              </>
            ),
          },
          { name: 'Event', cell: ({ event_id: event }) => <Id id={event} to={at(`/events/${event}`)} /> },
          { name: 'No.', cell: ({ number }) => number, isNumber: true },
          { name: 'Duration', cell: ({ duration_ms: ms }) => duration(ms), isNumber: true },
        ]}
      />
    </Panel>
  );
}
