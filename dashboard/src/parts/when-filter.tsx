import { setQuery, usePlace } from '../router.tsx';

const [hour, day] = [3_600, 86_400];
const spans = {
  hour: ['Last hour', hour],
  day: ['Last 24 hours', day],
  week: ['Last 7 days', 7 * day],
  month: ['Last 30 days', 30 * day],
} as const;

type Span = keyof typeof spans;

/** When it was created: a span until now, or days. Whole seconds are in the URL, so that the pages of a list belong together. */
export function WhenFilter() {
  const { query } = usePlace();
  const when = query.get('when') ?? '';
  return (
    <>
      <label className="filter">
        <span>When</span>
        <select value={when} onChange={(event) => setQuery(choose(event.target.value))}>
          <option value="">Any time</option>
          {(Object.keys(spans) as Span[]).map((name) => (
            <option key={name} value={name}>
              {spans[name][0]}
            </option>
          ))}
          <option value="days">Days…</option>
        </select>
      </label>
      {when === 'days' && (
        <>
          <Day name="from" label="From" />
          <Day name="until" label="To" />
        </>
      )}
    </>
  );
}

function choose(when: string): Record<string, string | null> {
  const [, seconds] = spans[when as Span] ?? [];
  const from = seconds === undefined ? null : String(Math.floor(Date.now() / 1_000) - seconds);
  return { when, from, until: null, after: null };
}

/** A day in UTC. “To” is inclusive, so the list ends with the next midnight. */
function Day({ name, label }: { name: 'from' | 'until'; label: string }) {
  const { query } = usePlace();
  const seconds = query.get(name);
  const shift = name === 'until' ? day : 0;
  const shown =
    seconds === null ? '' : new Date((Number(seconds) - shift) * 1_000).toISOString().slice(0, 10);
  return (
    <label className="filter">
      <span>{label}</span>
      <input
        type="date"
        value={shown}
        onChange={({ target: { value } }) =>
          setQuery({ [name]: value && String(Date.parse(value) / 1_000 + shift), after: null })
        }
      />
    </label>
  );
}

/** The chosen time as a list's parameters. */
export function useCreated(): { 'created[gte]'?: number; 'created[lt]'?: number } {
  const { query } = usePlace();
  const [from, until] = [query.get('from'), query.get('until')];
  return {
    ...(from !== null && { 'created[gte]': Number(from) }),
    ...(until !== null && { 'created[lt]': Number(until) }),
  };
}
