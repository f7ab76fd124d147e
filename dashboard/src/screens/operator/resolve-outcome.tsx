import type { OperatorExecution } from '@simplane/sdk';
import { useState } from 'react';
import { Action } from '../../parts/action.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Iccid, Id } from '../../parts/id.tsx';
import { Panel } from '../../parts/panel.tsx';
import { State } from '../../parts/state.tsx';
import { Time } from '../../parts/time.tsx';

/** Only the SM-DP+ knows whether it reserved a profile for this order, so a person looks there and decides. */
export function ResolveOutcome({ execution }: { execution: OperatorExecution }) {
  const [iccid, setIccid] = useState('');
  const path = `/v1/operator/executions/${execution.id}/resolve`;
  const call = execution.steps.at(-1)?.function_call_identifier;
  return (
    <Panel title="Resolve the unknown outcome">
      <div className="body form">
        <p>
          The order was sent, but no usable answer came back. It is not sent again, because that could reserve
          a second profile. Look up this call at the SM-DP+, then choose what you found there.
        </p>
        {call !== undefined && (
          <p>
            Call id <code>{call}</code> <Copy text={call} what="call id" />
          </p>
        )}
        <h3>It reserved no profile</h3>
        <p className="quiet">You can then retry the order.</p>
        <Action
          label="Resolve: not reserved"
          scope="operator"
          call={{ method: 'POST', path, body: { outcome: 'not_reserved' } }}
        />
        <h3>It reserved a profile</h3>
        <label>
          ICCID of that profile
          <input
            value={iccid}
            inputMode="numeric"
            autoComplete="off"
            onChange={(event) => setIccid(event.target.value.trim())}
          />
        </label>
        <p className="quiet">
          “Adopt profile” continues the order with this profile. “Cancel profile” cancels it at the SM-DP+.
        </p>
        <div className="row">
          <Action
            label="Adopt profile"
            kind="main"
            scope="operator"
            call={{ method: 'POST', path, body: decision('adopt', iccid) }}
          />
          <Action
            label="Cancel profile"
            scope="operator"
            call={{ method: 'POST', path, body: decision('cancel', iccid) }}
          />
        </div>
      </div>
    </Panel>
  );
}

const decision = (then: 'adopt' | 'cancel', iccid: string) => ({ outcome: 'reserved', iccid, then });

const states = {
  closed: { status: 'succeeded', word: 'Closed.' },
  canceling: { status: 'running', word: 'The profile is being canceled.' },
  refused: { status: 'failed', word: 'The network refused to cancel the profile.' },
};

type Resolution = NonNullable<OperatorExecution['resolution']>;

/** What was decided, and what came of it. */
export function Decided({
  execution: { account_id: account, retried_by: next },
  resolution: { outcome, iccid, then, status, error, decided_by: by, decided_at: at },
}: {
  execution: OperatorExecution;
  resolution: Resolution;
}) {
  return (
    <Panel title="Resolution">
      <div className="body">
        <p>
          <State {...states[status]} /> {outcome === 'not_reserved' && 'The SM-DP+ had reserved no profile.'}
          {iccid !== null && (
            <>
              The SM-DP+ had reserved{' '}
              <Iccid iccid={iccid} {...(then === 'adopt' && { to: `/accounts/${account}/esims/${iccid}` })} />
              {then === 'cancel' && ', to be canceled'}.
            </>
          )}
        </p>
        {next !== undefined && (
          <p>
            {then === 'adopt' ? 'A new execution continues with it:' : 'It was retried:'}{' '}
            <Id id={next} to={`/executions/${next}`} />
          </p>
        )}
        {outcome === 'not_reserved' && next === undefined && <p>“Retry” starts a new execution.</p>}
        {error && <p className="bad">✕ {error.message}</p>}
        <p className="quiet">
          Resolved by {by.name ?? by.type} <Time at={at} />
        </p>
      </div>
    </Panel>
  );
}
