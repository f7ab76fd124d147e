import { invalid } from '../platform/app-error.ts';

/** Throws unless the text is a link with one of these schemes, which a page may show. No credentials: a page would show them to anyone. */
export function checkLink(param: string, text: string | null | undefined, schemes: readonly string[]): void {
  if (text === null || text === undefined) return;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && schemes.includes(url.protocol) && url.username === '' && url.password === '') return;
  const names = schemes.map((scheme) => scheme.slice(0, -1)).join(' or ');
  throw invalid(param, `${param} must be a URL with ${names}, without credentials.`);
}
