import { Fragment } from 'react';

/** A URL, path or code that may break after its separators, so that no word of it breaks in the middle. */
export function Breakable({ text }: { text: string }) {
  return text.split(/(?<=[/._\-:?&=,])(?=[^/._\-:?&=,])/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place in the text
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

/** A URL that others chose: a part of it may be longer than any line. */
export function Url({ text }: { text: string }) {
  return (
    <span className="foreign">
      <Breakable text={text} />
    </span>
  );
}
