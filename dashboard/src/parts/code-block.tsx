import { useMemo } from 'react';
import { Copy } from './copy.tsx';

export function CodeBlock({ text, what, title }: { text: string; what: string; title?: string }) {
  const parts = useMemo(() => splitLines(text), [text]);
  return (
    <figure className="code">
      <figcaption>
        <span>{title ?? what}</span>
        <Copy text={text} what={what} label="Copy" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, which needs the focus */}
      <pre tabIndex={0}>
        {parts.length === 1
          ? text
          : parts.map((part, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place in the text
              <span key={index} className="lines">
                {part}
              </span>
            ))}
      </pre>
    </figure>
  );
}

// As in `.lines` of the style sheet. The browser lays out only the parts in view: 45,000 lines at once took it half a second.
const linesPerPart = 200;

function splitLines(text: string): string[] {
  const lines = text.split('\n');
  const parts: string[] = [];
  for (let start = 0; start < lines.length; start += linesPerPart)
    parts.push(lines.slice(start, start + linesPerPart).join('\n'));
  return parts;
}
