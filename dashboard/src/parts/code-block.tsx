import { Copy } from './copy.tsx';

export function CodeBlock({ text, what, title }: { text: string; what: string; title?: string }) {
  return (
    <figure className="code">
      <figcaption>
        <span>{title ?? what}</span>
        <Copy text={text} what={what} label="Copy" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, which needs the focus */}
      <pre tabIndex={0}>{text}</pre>
    </figure>
  );
}
