import type { EventConsumer } from '@simplane/sdk';
import { useState } from 'react';
import { useClients } from '../client.ts';
import { Action } from '../parts/action.tsx';
import { Breakable } from '../parts/breakable.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { number } from '../parts/format.ts';
import { PageHeader, Panel } from '../parts/panel.tsx';
import { ScopedButton } from '../parts/scoped-button.tsx';
import { State } from '../parts/state.tsx';
import { ListTable } from '../parts/table.tsx';
import { Time, useNowSeconds } from '../parts/time.tsx';
import { pollMs } from '../queries.ts';

/** Programs that follow the feed, and how far behind each one is. */
export default function Consumers() {
  const { api } = useClients();
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <PageHeader
        title="Consumers"
        about="Named places in the event feed. A program reads from its place and acknowledges what it has done."
      >
        <ScopedButton scope="write" kind="main" onClick={() => setCreating(true)}>
          Add a consumer
        </ScopedButton>
      </PageHeader>
      <Panel title="Event consumers">
        <ListTable<EventConsumer>
          caption="Event consumers, by name"
          what="the consumers"
          queryKey={['event_consumers']}
          pollMs={pollMs}
          read={(page) => api.consumers.list(page)}
          keyOf={({ name }) => name}
          empty="No consumer yet. A program that calls consumers.run of the SDK creates its own."
          columns={[
            { name: 'Name', cell: ({ name }) => <code className="foreign">{name}</code> },
            { name: 'State', cell: (consumer) => <Lag consumer={consumer} /> },
            { name: 'Behind', cell: ({ behind }) => number(behind), isNumber: true },
            {
              name: 'Types',
              isWide: true,
              cell: ({ type }) => (
                <code>
                  <Breakable text={type?.join(', ') ?? '*'} />
                </code>
              ),
            },
            { name: 'Created', cell: ({ created }) => <Time at={created} />, isTime: true },
            { name: 'Actions', cell: ({ name }) => <Changes name={name} /> },
          ]}
        />
      </Panel>
      {isCreating && <Create onClose={() => setCreating(false)} />}
    </>
  );
}

// A program that runs acknowledges within seconds.
const lateSeconds = 60;

function Lag({ consumer: { oldest_unacknowledged_at: oldest, behind } }: { consumer: EventConsumer }) {
  const now = useNowSeconds();
  if (behind === 0 || oldest === null) return <State status="succeeded" word="Up to date" />;
  if (now - oldest < lateSeconds) return <State status="running" word="Reading" />;
  return (
    <>
      <State status="depleted" word="Late" />, first event <Time at={oldest} />
    </>
  );
}

const pathOf = (name: string) => `/v1/event_consumers/${encodeURIComponent(name)}`;

function Changes({ name }: { name: string }) {
  return (
    <span className="row">
      <Action
        label="Skip to now"
        scope="write"
        confirm={{ effect: 'Its program never gets the events that it has not read yet.' }}
        call={{ method: 'POST', path: `${pathOf(name)}/seek`, body: { after: 'now' } }}
      />
      <Action
        label="Delete"
        kind="danger"
        scope="write"
        confirm={{
          id: name,
          effect: 'Its place is gone at once; its program fails at its next read. Events stay.',
        }}
        call={{ method: 'DELETE', path: pathOf(name) }}
      />
    </span>
  );
}

function Create({ onClose }: { onClose(): void }) {
  const [name, setName] = useState('');
  const [after, setAfter] = useState<'now' | 'start'>('now');
  return (
    <Dialog title="Add a consumer" onClose={onClose}>
      <div className="form">
        <label>
          Name
          <input
            value={name}
            spellCheck={false}
            placeholder="billing"
            onChange={(event) => setName(event.target.value.trim())}
          />
        </label>
        <label>
          Begins with
          <select value={after} onChange={(event) => setAfter(event.target.value as typeof after)}>
            <option value="now">the next event</option>
            <option value="start">the oldest event that is kept</option>
          </select>
        </label>
        {name !== '' && (
          <Action
            label="Add"
            kind="main"
            scope="write"
            call={{ method: 'PUT', path: pathOf(name), body: { after } }}
            onDone={onClose}
          />
        )}
      </div>
    </Dialog>
  );
}
