import { type Html, html } from './html.ts';

/** A titled code sample. The script shows the copy button only if the browser has a clipboard. */
export function codeBlock(title: Html | string, code: Html, language?: string): Html {
  return html`<figure class="code"${language !== undefined && html` data-language="${language}"`}><figcaption><span>${title}</span><button type="button" data-copy hidden>Copy</button></figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`;
}

/** Formats JSON with syntax highlighting. */
export function jsonCode(value: unknown): Html {
  const text = JSON.stringify(value, null, 2) ?? 'null';
  const tokens = text.split(
    /("(?:\\.|[^"\\])*"(?:\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\btrue\b|\bfalse\b|\bnull\b)/,
  );
  return html`${tokens.map((token) => {
    const kind = kindOf(token);
    return kind === null ? token : html`<span class="${kind}">${token}</span>`;
  })}`;
}

/** A shell command with syntax highlighting. */
export function shellCode(command: string): Html {
  const tokens = command.split(/('(?:[^']|'\\'')*'|"(?:\\.|[^"\\])*"|^curl\b|(?<=\s)--?[a-zA-Z][\w-]*)/m);
  return html`${tokens.map((token) => {
    if (token === 'curl') return html`<span class="c-command">${token}</span>`;
    if (/^['"]/.test(token)) return html`<span class="c-string">${token}</span>`;
    return /^--?[a-zA-Z]/.test(token) ? html`<span class="c-key">${token}</span>` : token;
  })}`;
}

const keywords =
  /^(?:import|from|const|await|async|export|function|return|if|not|def|raise|throw|new|with|as|for|in|and|or|None|True|False|null|true|false)$/;

/** TypeScript or Python with syntax highlighting. */
export function programCode(code: string): Html {
  const tokens = code.split(/("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\b[A-Za-z_]\w*\b)/);
  return html`${tokens.map((token) => {
    if (/^['"]/.test(token)) return html`<span class="c-string">${token}</span>`;
    return keywords.test(token) ? html`<span class="c-word">${token}</span>` : token;
  })}`;
}

function kindOf(token: string): string | null {
  if (token.startsWith('"')) return token.endsWith(':') ? 'c-key' : 'c-string';
  if (/^-?\d/.test(token)) return 'c-number';
  return /^(true|false|null)$/.test(token) ? 'c-word' : null;
}
