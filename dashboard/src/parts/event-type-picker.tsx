import type { EventType } from '@simplane/sdk';
import { useState } from 'react';
import { familyOf, useEventTypes } from '../event-types.ts';
import { Shown } from './reading.tsx';
import { UnknownType } from './unknown-type.tsx';

type Props = { chosen: readonly string[]; onChange(types: string[]): void };

/** All events, families, or single types. A name that the catalogue does not have stays in a field of its own. */
export function EventTypePicker({ chosen, onChange }: Props) {
  const reading = useEventTypes();
  const isAll = chosen.includes('*');
  return (
    <fieldset>
      <legend>Event types</legend>
      <label className="check">
        <input type="radio" checked={isAll} onChange={() => onChange(['*'])} />
        All, also those that are added later
      </label>
      <label className="check">
        <input type="radio" checked={!isAll} onChange={() => onChange([])} />
        Only these
      </label>
      {!isAll && (
        <Shown of={reading} what="the event types">
          {(types) => <Choices types={types} chosen={chosen} onChange={onChange} />}
        </Shown>
      )}
    </fieldset>
  );
}

function Choices({ types, chosen, onChange }: Props & { types: EventType[] }) {
  const families = [...new Set(types.map(({ type }) => familyOf(type)))];
  const known = new Set([...families, ...types.map(({ type }) => type)]);
  const [text, setText] = useState(() => chosen.filter((type) => !known.has(type)).join(' '));
  const others = namesIn(text);
  const rewrite = (text: string, added: string[] = []) => {
    setText(text);
    onChange([...chosen.filter((type) => known.has(type)), ...added, ...namesIn(text)]);
  };
  const toggle = (type: string, isOn: boolean) =>
    onChange(isOn ? [...chosen, type] : chosen.filter((one) => one !== type));
  return (
    <>
      <div className="choices">
        {families.map((family) => (
          <div key={family}>
            <Choice type={family} about="the whole family" {...{ chosen, toggle }} />
            {types
              .filter(({ type }) => familyOf(type) === family)
              .map(({ type, description }) => (
                <Choice
                  key={type}
                  type={type}
                  about={description}
                  isCovered={chosen.includes(family)}
                  {...{ chosen, toggle }}
                />
              ))}
          </div>
        ))}
      </div>
      <label>
        Other types, separated by spaces
        <input value={text} spellCheck={false} onChange={(event) => rewrite(event.target.value)} />
      </label>
      {others.map((type) => (
        <UnknownType
          key={type}
          type={type}
          onReplace={(right) => rewrite(others.filter((one) => one !== type).join(' '), [right])}
        />
      ))}
    </>
  );
}

type ChoiceProps = {
  type: string;
  about: string;
  chosen: readonly string[];
  toggle(type: string, isOn: boolean): void;
  /** Its family is chosen. */
  isCovered?: boolean;
};

function Choice({ type, about, chosen, toggle, isCovered = false }: ChoiceProps) {
  return (
    <label className="check" title={about}>
      <input
        type="checkbox"
        checked={isCovered || chosen.includes(type)}
        disabled={isCovered}
        onChange={(event) => toggle(type, event.target.checked)}
      />
      <code>{type}</code>
    </label>
  );
}

function namesIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((type) => type !== '');
}
