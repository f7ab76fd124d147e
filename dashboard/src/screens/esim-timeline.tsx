import type { TimelineEntry } from '@simplane/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { ErrorNote } from '../parts/error-note.tsx';
import { clock, exact } from '../parts/format.ts';
import { Id } from '../parts/id.tsx';
import { Panel } from '../parts/panel.tsx';
import { pollMs } from '../queries.ts';
import { Link } from '../router.tsx';

const marks: Record<TimelineEntry['kind'], [mark: string, color: string]> = {
  order: ['●', 'info'],
  command: ['○', 'quiet'],
  state: ['●', 'ok'],
  profile: ['○', 'quiet'],
  attach: ['●', 'info'],
  bundle: ['●', 'ok'],
  usage: ['▲', 'warn'],
  other: ['○', 'quiet'],
};

/** Everything that happened to an eSIM, newest first, by day. */
export function Timeline({ iccid }: { iccid: string }) {
  const { api } = useClients();
  const at = useAccountPath();
  const [showsSteps, setShowsSteps] = useState(true);
  const { data, error } = useQuery({
    queryKey: ['timeline', iccid],
    queryFn: async () => (await api.esims.timeline(iccid, { limit: 100 })).data,
    refetchInterval: pollMs,
  });
  return (
    <Panel
      title="What happened"
      aside={
        <>
          <label className="row">
            <input
              type="checkbox"
              checked={showsSteps}
              onChange={(event) => setShowsSteps(event.target.checked)}
            />
            Steps
          </label>
          <Link to={at(`/events?iccid=${iccid}`)}>As events</Link>
        </>
      }
      footer="✓ delivered · ◐ being retried · ✕ failed, one count for all endpoints"
    >
      {error && <ErrorNote error={error} />}
      <div className="timeline">
        {byDay(data ?? []).map(({ day, entries }) => (
          <section key={day}>
            <h3>{day}</h3>
            <ul>
              {entries.map((entry) => (
                <Entry key={entry.id} entry={entry} showsSteps={showsSteps} />
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Panel>
  );
}

function Entry({ entry, showsSteps }: { entry: TimelineEntry; showsSteps: boolean }) {
  const at = useAccountPath();
  const { event_id: event, execution_id: execution, steps = [], deliveries } = entry;
  const [mark, color] = entry.status === 'failed' ? ['✕', 'bad'] : marks[entry.kind];
  return (
    <li>
      <time title={exact(entry.created)}>{clock(entry.created)}</time>
      <span className={color} aria-hidden="true">
        {mark}
      </span>
      <span>
        {entry.title}
        {showsSteps &&
          steps.map(({ name, at, attempts, error_code: code, message }) => (
            <span key={name} className="step quiet">
              {at !== null && `${clock(at)} `}
              {name}
              {attempts !== undefined && attempts > 1 && `, ${attempts} attempts`}
              {code !== undefined && ` ${code}`}
              {message !== undefined && `: ${message}`}
            </span>
          ))}
      </span>
      <span className="row">
        {deliveries && (
          <span className="quiet">
            {deliveries.succeeded > 0 && `✓${deliveries.succeeded} `}
            {deliveries.pending > 0 && `◐${deliveries.pending} `}
            {deliveries.failed > 0 && <span className="bad">✕{deliveries.failed}</span>}
          </span>
        )}
        {event !== undefined ? (
          <Id id={event} to={at(`/events/${event}`)} />
        ) : (
          execution !== undefined && <Id id={execution} to={at(`/executions/${execution}`)} />
        )}
      </span>
    </li>
  );
}

function byDay(entries: TimelineEntry[]): { day: string; entries: TimelineEntry[] }[] {
  const days = new Map<string, TimelineEntry[]>();
  for (const entry of entries) {
    const day = new Date(entry.created * 1_000).toISOString().slice(0, 10);
    days.set(day, [...(days.get(day) ?? []), entry]);
  }
  return [...days].map(([day, entries]) => ({ day, entries }));
}
