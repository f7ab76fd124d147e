import type { Overview } from '@simplane/sdk';
import { Link } from '../router.tsx';
import { Bars, Meter } from './bars.tsx';
import { duration, number } from './format.ts';

const names = {
  accepted: 'Ordered',
  provisioned: 'Provisioned',
  downloaded: 'Downloaded',
  installed: 'Installed',
  active: 'Attached',
} as const;

export type Stage = keyof typeof names;
type Hour = Overview['hours'][number];
type Shown = Pick<Overview, 'funnel' | 'open_count' | 'failed_count'> & { hours: Hour[] };

/** How far orders came. Percentages are of the step before; a bar is an hour. A figure leads to what it counts. */
export function Funnel({ overview, to }: { overview: Shown; to?(stage: Stage): string }) {
  const { funnel, hours, open_count: open, failed_count: failed } = overview;
  return (
    <div className="funnel">
      {funnel.map(({ stage, count, median_ms: median }, index) => {
        const before = funnel[index - 1]?.count ?? count;
        const share = before === 0 ? 0 : count / before;
        const name = names[stage];
        return (
          <div key={stage}>
            <p className="quiet">{name}</p>
            <p className="figure">
              {to ? (
                <Link to={to(stage)} className="subtle" aria-label={`${name}: ${number(count)}`}>
                  {number(count)}
                </Link>
              ) : (
                number(count)
              )}
            </p>
            <p className="quiet">
              {index === 0
                ? `${open} open, ${failed} failed`
                : `${Math.round(share * 1_000) / 10} %${median === null ? '' : ` · median ${duration(median)}`}`}
            </p>
            <Meter share={share} label={`${Math.round(share * 100)} % of the previous step`} />
            <Bars
              counts={hours.map((hour) => hour[stage])}
              finding={`${name}: ${number(count)}, at most ${Math.max(0, ...hours.map((hour) => hour[stage]))} in an hour`}
            />
          </div>
        );
      })}
    </div>
  );
}
