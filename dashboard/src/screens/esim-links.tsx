import type { InstallLink } from '@simplane/sdk';
import { useState } from 'react';
import { useClients } from '../client.ts';
import { Action } from '../parts/action.tsx';
import { Copy } from '../parts/copy.tsx';
import { Id } from '../parts/id.tsx';
import { Panel } from '../parts/panel.tsx';
import { Shown, useReading } from '../parts/reading.tsx';
import { Time } from '../parts/time.tsx';
import { pollMs } from '../queries.ts';

/** Links for the eSIM's user. The URL of a new one is shown until the page is left: only its hash is stored. */
export function InstallLinks({ iccid }: { iccid: string }) {
  const { api } = useClients();
  const [created, setCreated] = useState<InstallLink | null>(null);
  const path = `/v1/esims/${iccid}/install_links`;
  const reading = useReading({
    queryKey: ['install_links', iccid],
    queryFn: async () => (await api.esims.listInstallLinks(iccid, { limit: 20 })).data,
    pollMs,
  });
  return (
    <Panel title="Install link">
      <div className="body">
        <p className="quiet">A page for the eSIM’s user, which installs it on the phone it is opened on.</p>
        {created && <NewLink link={created} />}
        <Action
          label="Create install link"
          scope="install"
          call={{ method: 'POST', path, body: {} }}
          onDone={(answer) => setCreated(answer as InstallLink)}
        />
        <Shown of={reading} what="the install links">
          {(links) => links.map((link) => <LinkRow key={link.id} link={link} path={path} />)}
        </Shown>
      </div>
    </Panel>
  );
}

function NewLink({ link: { url = '', qr, iccid } }: { link: InstallLink }) {
  return (
    <>
      <p>Copy the link now: it is not shown again.</p>
      <div className="row">
        <code className="chip secret">{url}</code>
        <Copy text={url} what="install link" label="Copy" />
      </div>
      {qr && (
        <div className="row">
          <img className="qr" src={qr.png} alt="QR code of the install link" />
          <a className="control" href={qr.svg} download={`install-link-${iccid}.svg`}>
            QR code for print
          </a>
        </div>
      )}
    </>
  );
}

function LinkRow({ link, path }: { link: InstallLink; path: string }) {
  return (
    <div className="bundle">
      <div className="row apart">
        <Id id={link.id} />
        <Action
          label="Revoke"
          kind="danger"
          scope="install"
          confirm={{ effect: 'The page ends at once, for whoever has the link.' }}
          call={{ method: 'DELETE', path: `${path}/${link.id}` }}
        />
      </div>
      <p className="row apart quiet">
        <span>
          opened <Time at={link.opened_at} />
        </span>
        <span>
          installed <Time at={link.installed_at} />
        </span>
        <span>
          ends <Time at={link.expires_at} />
        </span>
      </p>
    </div>
  );
}
