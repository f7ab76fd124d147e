import { useId } from 'react';
import { setQuery, usePlace } from '../router.tsx';

type Option = { value: string; label: string };

export const optionsOf = (values: readonly string[]): Option[] =>
  values.map((value) => ({ value, label: value }));

/** A choice in the URL. Changing it goes back to the first page. */
export function Filter({
  name,
  label,
  options,
}: {
  name: string;
  label: string;
  options: readonly Option[];
}) {
  const { query } = usePlace();
  return (
    <label className="filter">
      <span>{label}</span>
      <select
        value={query.get(name) ?? ''}
        onChange={(event) => setQuery({ [name]: event.target.value, after: null })}
      >
        <option value="">All</option>
        {options.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A text in the URL, applied with Enter, or when one of the suggestions is chosen. */
export function TextFilter({
  name,
  label,
  suggestions,
}: {
  name: string;
  label: string;
  suggestions?: readonly string[];
}) {
  const { query } = usePlace();
  const list = useId();
  return (
    <form
      className="filter"
      onSubmit={(event) => {
        event.preventDefault();
        const value = new FormData(event.currentTarget).get(name);
        setQuery({ [name]: typeof value === 'string' ? value.trim() : null, after: null });
      }}
    >
      <label>
        <span>{label}</span>
        <input
          name={name}
          key={query.get(name) ?? ''}
          defaultValue={query.get(name) ?? ''}
          spellCheck={false}
          {...(suggestions && { list })}
          onChange={({ target: { value } }) => {
            if (suggestions?.includes(value)) setQuery({ [name]: value, after: null });
          }}
        />
        {suggestions && (
          <datalist id={list}>
            {suggestions.map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        )}
      </label>
    </form>
  );
}

// In the URL, but not a filter: which list, and where in it.
const places = new Set(['view', 'after', 'window', 'when', 'via']);

export function useIsFiltered(): boolean {
  const { query } = usePlace();
  return [...query.keys()].some((name) => !places.has(name));
}

export function clearFilters(): void {
  const names = [...new URLSearchParams(location.search).keys()].filter((name) => name !== 'view');
  setQuery(Object.fromEntries(names.map((name) => [name, null])));
}
