import { useRef, useState } from 'react';

/** Copies a text. `what` names it for screen readers. */
export function Copy({ text, what, label }: { text: string; what: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  return (
    <button
      type="button"
      className={label === undefined ? 'copy' : 'control'}
      aria-label={label === undefined ? `Copy ${what}` : undefined}
      title={label === undefined ? `Copy ${what}` : undefined}
      onClick={() => {
        copyText(text).then(
          () => {
            setCopied(true);
            clearTimeout(timer.current);
            timer.current = setTimeout(() => setCopied(false), 1_500);
          },
          () => {}, // the browser forbids it; the text is there to select
        );
      }}
    >
      {label ?? <CopyIcon isDone={isCopied} />}
      {label !== undefined && isCopied && ' ✓'}
      <span className="hidden" role="status">
        {isCopied ? 'Copied' : ''}
      </span>
    </button>
  );
}

function CopyIcon({ isDone }: { isDone: boolean }) {
  return (
    <svg viewBox="0 0 16 16" width="13" height="13" aria-hidden="true" fill="none" stroke="currentColor">
      {isDone ? (
        <path strokeWidth="2" d="M3 8.5l3.5 3.5L13 4.5" />
      ) : (
        <path strokeWidth="1.3" d="M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3" />
      )}
    </svg>
  );
}

/** `navigator.clipboard` exists only on https and loopback; elsewhere a hidden field is copied. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}
