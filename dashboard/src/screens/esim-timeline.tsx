import type { TimelineEntry } from '@simplane/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { ErrorNote } from '../parts/error-note.tsx';
import { clock, date, exact } from '../parts/format.ts';
import { Id } from '../parts/id.tsx';
import { Panel } from '../parts/panel.tsx';
import { Mark, type Shape, State } from '../parts/state.tsx';
import { pollMs } from '../queries.ts';
import { Link } from '../router.tsx';

const shapes: Record<TimelineEntry['kind'], Shape> = {
  order: 'open',
  command: 'open',
  state: 'ok',
  profile: 'open',
  attach: 'ok',
  bundle: 'ok',
  usage: 'warning',
  other: 'open',
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
      footer={
        <span className="row">
          <State status="delivered" word="delivered" />
          <State status="pending" word="pending" />
          <State status="failed" word="failed" />
        </span>
      }
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

type Step = NonNullable<TimelineEntry['steps']>[number];

function Entry({ entry, showsSteps }: { entry: TimelineEntry; showsSteps: boolean }) {
  const at = useAccountPath();
  const { event_id: event, execution_id: execution, steps = [], deliveries } = entry;
  return (
    <li>
      <time title={exact(entry.created)}>{clock(entry.created)}</time>
      <Mark shape={entry.status === 'failed' ? 'failed' : shapes[entry.kind]} />
      <span>
        {entry.title}
        {showsSteps &&
          steps
            .filter((step) => isTelling(step, entry))
            .map(({ name, at, attempts, error_code: code, message }) => (
              <span key={name} className="step quiet">
                {name}
                {at !== null && ` ${clock(at)}`}
                {attempts !== undefined && attempts > 1 && `, ${attempts} attempts`}
                {code !== undefined && ` ${code}`}
                {message !== undefined && `: ${message}`}
              </span>
            ))}
      </span>
      <span className="row">
        {deliveries && (
          <span className="row quiet">
            <Count shape="done" count={deliveries.succeeded} word="delivered" />
            <Count shape="running" count={deliveries.pending} word="pending" />
            <Count shape="failed" count={deliveries.failed} word="failed" />
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

function Count({ shape, count, word }: { shape: Shape; count: number; word: string }) {
  if (count === 0) return null;
  return (
    <span className="count">
      <Mark shape={shape} /> {count}
      <span className="hidden"> {word}</span>
    </span>
  );
}

/** Leaves out steps that say no more than the entry itself: without a time, or at its own. */
function isTelling({ at, attempts = 1, error_code: code, message }: Step, entry: TimelineEntry): boolean {
  const hasTime = at !== null && at !== entry.created;
  return hasTime || attempts > 1 || code !== undefined || message !== undefined;
}

function byDay(entries: TimelineEntry[]): { day: string; entries: TimelineEntry[] }[] {
  const days = new Map<string, TimelineEntry[]>();
  for (const entry of entries) {
    const day = date(entry.created);
    days.set(day, [...(days.get(day) ?? []), entry]);
  }
  return [...days].map(([day, entries]) => ({ day, entries }));
}
