const shownLength = 60;

/** A text of others on one line, cut with an ellipsis; a click opens the whole. */
export function Said({ text }: { text: string | null | undefined }) {
  if (!text) return null;
  if (text.length <= shownLength && !text.includes('\n')) return <code className="said">{text}</code>;
  return (
    <details className="said">
      <summary>
        <code>{text.slice(0, shownLength)}…</code>
      </summary>
      <pre className="answer">{text}</pre>
    </details>
  );
}
