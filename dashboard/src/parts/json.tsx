import { useMemo } from 'react';
import { CodeBlock } from './code-block.tsx';

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
  const text = useMemo(() => JSON.stringify(value, null, 2), [value]);
  return (
    <details className="json" open={isOpen}>
      <summary>{title}</summary>
      <CodeBlock text={text} what="JSON" />
    </details>
  );
}
