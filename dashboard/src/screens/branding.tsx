import type { Branding } from '@simplane/sdk';
import { useState } from 'react';
import { useClients } from '../client.ts';
import { Action } from '../parts/action.tsx';
import { PageHeader, Panel } from '../parts/panel.tsx';
import { Shown, useReading } from '../parts/reading.tsx';

/** What the pages of install links show of the account. */
export default function BrandingScreen() {
  const { api } = useClients();
  const reading = useReading({ queryKey: ['branding'], queryFn: () => api.branding.get() });
  return (
    <>
      <PageHeader title="Install page" about="What people see who open an install link of yours." />
      <div className="columns">
        <Panel title="Branding">
          <div className="body">
            <Shown of={reading} what="the branding">
              {(branding) => <Form branding={branding} />}
            </Shown>
          </div>
        </Panel>
        <Panel title="Preview">
          <div className="body">
            <Shown of={reading} what="the branding">
              {(branding) => <Preview branding={branding} />}
            </Shown>
          </div>
        </Panel>
      </div>
    </>
  );
}

const fields = [
  { name: 'name', label: 'Name', placeholder: 'as the account is called' },
  { name: 'color', label: 'Color of the button', placeholder: '#1d4ed8' },
  { name: 'support_url', label: 'Support contact', placeholder: 'mailto:help@example.com' },
  { name: 'top_up_url', label: 'Link to buy more data', placeholder: 'https://example.com/top-up' },
  { name: 'apn', label: 'APN, if phones do not set it', placeholder: 'none' },
] as const;

type Field = (typeof fields)[number]['name'];

function Form({ branding }: { branding: Branding }) {
  const [typed, setTyped] = useState<{ [field in Field]?: string }>({});
  const [message, setMessage] = useState<string>();
  const [logo, setLogo] = useState<string | null>();
  const texts = Object.entries(typed).map(([field, text]) => [field, text.trim() || null]);
  const body = {
    ...(Object.fromEntries(texts) as { [field in Field]?: string | null }),
    ...(message !== undefined && { messages: { en: message.trim() || null } }),
    ...(logo !== undefined && { logo }),
  };
  return (
    <div className="form">
      {fields.map(({ name, label, placeholder }) => (
        <label key={name}>
          {label}
          <input
            value={typed[name] ?? branding[name] ?? ''}
            placeholder={placeholder}
            onChange={(event) => setTyped({ ...typed, [name]: event.target.value })}
          />
        </label>
      ))}
      <label>
        A sentence of yours, in English
        <input
          value={message ?? branding.messages.en ?? ''}
          placeholder="none"
          onChange={(event) => setMessage(event.target.value)}
        />
      </label>
      <label>
        Logo: PNG, up to 16 kB
        <input
          type="file"
          accept="image/png"
          onChange={(event) => {
            const [file] = event.target.files ?? [];
            if (file) readFile(file, setLogo);
          }}
        />
      </label>
      {branding.logo !== null && (
        <button type="button" className="control" disabled={logo === null} onClick={() => setLogo(null)}>
          {logo === null ? 'The logo is removed when you save' : 'Remove the logo'}
        </button>
      )}
      <p className="quiet">Other languages: PATCH /v1/branding with “messages”.</p>
      <Action
        label="Save"
        kind="main"
        scope="write"
        call={{ method: 'PATCH', path: '/v1/branding', body }}
        onDone={() => {
          setTyped({});
          setMessage(undefined);
          setLogo(undefined);
        }}
      />
    </div>
  );
}

function readFile(file: File, onRead: (dataUri: string) => void): void {
  const reader = new FileReader();
  reader.onload = () => onRead(String(reader.result));
  reader.readAsDataURL(file);
}

/** As on a small phone, with what is saved. */
function Preview({ branding }: { branding: Branding }) {
  const { account } = useClients();
  const { color, text_color: textColor, logo, messages } = branding;
  return (
    <figure className="phone" aria-label="The page as people see it">
      <p className="seller">
        {logo !== null && <img src={logo} alt="" />}
        <b>{branding.name ?? account?.name}</b>
      </p>
      <p className="title">Install your eSIM</p>
      <p>It takes two minutes. Connect the phone to Wi-Fi first.</p>
      {messages.en !== undefined && <p>{messages.en}</p>}
      <p className="button" style={{ background: color ?? '#1d4ed8', color: textColor }}>
        Install eSIM
      </p>
      {branding.support_url !== null && <p>Contact support</p>}
    </figure>
  );
}
