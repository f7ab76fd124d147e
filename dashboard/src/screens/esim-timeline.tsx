import type { TimelineEntry } from '@simplane/sdk';
import { useState } from 'react';
import { useAccountPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { clock, date, exact } from '../parts/format.ts';
import { Id } from '../parts/id.tsx';
import { Panel } from '../parts/panel.tsx';
import { type Reading, Shown, useReading } from '../parts/reading.tsx';
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

function useTimeline(iccid: string): Reading<TimelineEntry[]> {
  const { api } = useClients();
  return useReading({
    queryKey: ['timeline', iccid],
    queryFn: async () => (await api.esims.timeline(iccid, { limit: 100 })).data,
    pollMs,
  });
}

/** Why the order of a failed eSIM failed, in plain sight. */
export function WhyFailed({ iccid }: { iccid: string }) {
  const at = useAccountPath();
  const reading = useTimeline(iccid);
  return (
    <Shown of={reading} what="the cause">
      {(entries) => {
        const order = entries.find(({ kind, status }) => kind === 'order' && status === 'failed');
        const step = order?.steps?.find(({ error_code: code }) => code !== undefined);
        return (
          <div className="error-note" role="status">
            <p>
              ✕ The order failed{step && ': '}
              {step && <code>{step.error_code}</code>} {step?.message}
            </p>
            {order?.execution_id !== undefined && (
              <p>
                <Id id={order.execution_id} to={at(`/executions/${order.execution_id}`)} />
              </p>
            )}
          </div>
        );
      }}
    </Shown>
  );
}

/** Everything that happened to an eSIM, newest first, by day. */
export function Timeline({ iccid }: { iccid: string }) {
  const at = useAccountPath();
  const [showsSteps, setShowsSteps] = useState(true);
  const reading = useTimeline(iccid);
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
      <Shown of={reading} what="the timeline">
        {(entries) => (
          <div className="timeline">
            {byDay(entries).map(({ day, entries }) => (
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
        )}
      </Shown>
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
