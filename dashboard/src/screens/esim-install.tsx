import type { Esim, InstallProfile } from '@simplane/sdk';
import { useMutation } from '@tanstack/react-query';
import { useClients } from '../client.ts';
import { useShowsCalls } from '../parts/api-calls.ts';
import { curlOf } from '../parts/call.ts';
import { Copy } from '../parts/copy.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Panel } from '../parts/panel.tsx';
import { ScopedButton } from '../parts/scoped-button.tsx';

/** The activation code, behind a click: whoever has it can take the line. Leaving the page drops it. */
export function Install({ esim }: { esim: Esim }) {
  const { api } = useClients();
  const showsCalls = useShowsCalls();
  const { iccid, status } = esim;
  // Not a query: its result would stay in the cache.
  const { data, error, mutate, reset, isPending } = useMutation({
    gcTime: 0,
    mutationFn: () => api.esims.install(iccid),
  });
  const isReady = status === 'provisioned' || status === 'active' || status === 'suspended';
  return (
    <Panel
      title="Install"
      aside={
        showsCalls && (
          <Copy
            text={curlOf({ method: 'GET', path: `/v1/esims/${iccid}/install` })}
            what="curl"
            label="curl"
          />
        )
      }
    >
      <div className="body">
        <p className="quiet">
          Anyone who has this code can install the eSIM. The audit log records every view.
        </p>
        {data ? (
          <Shown profile={data} onHide={reset} />
        ) : (
          <ScopedButton scope="install" isBusy={!isReady || isPending} onClick={() => mutate()}>
            {isReady ? 'Show QR code and links' : `Not available: the eSIM is ${status}`}
          </ScopedButton>
        )}
        {error && <ErrorNote error={error} />}
      </div>
    </Panel>
  );
}

function Shown({ profile, onHide }: { profile: InstallProfile; onHide(): void }) {
  return (
    <>
      <div className="row">
        <img className="qr" src={profile.qr.png} alt="QR code to install the eSIM" />
        <dl>
          <dt className="quiet">LPA</dt>
          <dd>
            <code>{profile.lpa}</code> <Copy text={profile.lpa} what="LPA string" />
          </dd>
          <dt className="quiet">iOS 17.4 and newer</dt>
          <dd>
            <a href={profile.ios_install_url}>Install link</a>
          </dd>
          <dt className="quiet">Android</dt>
          <dd>
            <a href={profile.android_install_url}>Install link</a>
          </dd>
        </dl>
      </div>
      {profile.confirmation_code_required && <p>The device also asks for the confirmation code.</p>}
      <button type="button" className="control" onClick={onHide}>
        Hide
      </button>
    </>
  );
}
