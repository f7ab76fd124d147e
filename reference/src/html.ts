const trustedText: unique symbol = Symbol('trusted html');

/** Markup that was escaped on its way in. Only `html` and `trusted` make one, so a plain string is never mistaken for it. */
export type Html = { readonly [trustedText]: string };

export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

/** A template whose interpolations are escaped unless they are markup themselves; nothing is printed for null and false. */
export function html(parts: TemplateStringsArray, ...values: HtmlValue[]): Html {
  let text = parts[0] ?? '';
  values.forEach((value, index) => {
    text += print(value) + (parts[index + 1] ?? '');
  });
  return { [trustedText]: text };
}

/** For text that this program wrote itself: the stylesheet and the script, which escaping would break. */
export function trusted(text: string): Html {
  return { [trustedText]: text };
}

export function toText(markup: Html): string {
  return markup[trustedText];
}

/** The part of a fragment identifier that a name contributes: the same name always gives the same anchor. */
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
