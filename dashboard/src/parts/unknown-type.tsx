import { familyOf, useEventTypes } from '../event-types.ts';
import { nearest } from './nearest.ts';
import { peek } from './reading.tsx';

/** Warns of a type that no event has: probably a typo. A sandbox takes any, for test events. */
export function UnknownType({ type, onReplace }: { type: string; onReplace(right: string): void }) {
  const known = peek(useEventTypes())?.map((one) => one.type);
  if (known === undefined || type === '' || type === '*') return null;
  const names = [...known, ...new Set(known.map(familyOf))];
  if (names.includes(type)) return null;
  const right = nearest(type, names);
  return (
    <p className="warn" role="status">
      ▲ The catalogue has no type <code>{type}</code>: only test events can have it.{' '}
      {right !== null && (
        <button type="button" className="plain link" onClick={() => onReplace(right)}>
          Did you mean {right}?
        </button>
      )}
    </p>
  );
}
