const trustedText: unique symbol = Symbol('trusted html');

/** Escaped markup. Only `html` and `trusted` create it, so a plain string cannot pass as markup. */
export type Html = { readonly [trustedText]: string };

export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

/** Escapes interpolated values unless they are `Html`. Null, undefined and false print nothing. */
export function html(parts: TemplateStringsArray, ...values: HtmlValue[]): Html {
  let text = parts[0] ?? '';
  values.forEach((value, index) => {
    text += print(value) + (parts[index + 1] ?? '');
  });
  return { [trustedText]: text };
}

/** Marks our own text as markup: the stylesheet and the script, which escaping would break. */
export function trusted(text: string): Html {
  return { [trustedText]: text };
}

export function toText(markup: Html): string {
  return markup[trustedText];
}

/** Converts a name to a stable anchor. */
export function slug(name: string): string {
  return name.replace(/[^A-Za-z0-9_]+/g, '-').replace(/^-|-$/g, '');
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function print(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return '';
  if (typeof value === 'string') return value.replace(/[&<>"']/g, (character) => entities[character] ?? '');
  if (typeof value === 'number') return String(value);
  if (trustedText in value) return value[trustedText];
  return value.map(print).join('');
}
