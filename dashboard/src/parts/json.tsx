import { useState } from 'react';
import { CodeBlock } from './code-block.tsx';

// Larger objects are shown in part at first: laying out 250 kB of text blocks the page for half a second.
const shownAtFirst = 20_000;

/** An object as the API returned it, behind a click. It is text: nothing in it is interpreted. */
export function Json({
  value,
  title = 'The object as JSON',
  isOpen = false,
}: {
  value: unknown;
  title?: string;
  isOpen?: boolean;
}) {
  const [showsAll, setShowsAll] = useState(false);
  const text = JSON.stringify(value, null, 2);
  const isLong = text.length > shownAtFirst;
  return (
    <details className="json" open={isOpen}>
      <summary>{title}</summary>
      <CodeBlock text={isLong && !showsAll ? `${text.slice(0, shownAtFirst)}\n…` : text} what="JSON" />
      {isLong && !showsAll && (
        <button type="button" className="control" onClick={() => setShowsAll(true)}>
          Show all {Math.round(text.length / 1_000)} kB
        </button>
      )}
    </details>
  );
}
