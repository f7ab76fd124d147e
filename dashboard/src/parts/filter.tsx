import { setQuery, usePlace } from '../router.tsx';

type Option = { value: string; label: string };

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

/** A text in the URL, applied with Enter. */
export function TextFilter({ name, label }: { name: string; label: string }) {
  const { query } = usePlace();
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
        />
      </label>
    </form>
  );
}
