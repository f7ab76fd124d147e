import type { Bundle, Esim } from '@simplane/sdk';
import { useAccountPath, useIdInPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { Action } from '../parts/action.tsx';
import { Meter } from '../parts/bars.tsx';
import { bytes } from '../parts/format.ts';
import { Iccid, Id } from '../parts/id.tsx';
import { Json } from '../parts/json.tsx';
import { OrderButton } from '../parts/order-form.tsx';
import { Fact, Facts, PageHeader, Panel } from '../parts/panel.tsx';
import { Shown, useReading } from '../parts/reading.tsx';
import { Reference } from '../parts/reference.tsx';
import { ServiceNow } from '../parts/service.tsx';
import { canSimulate, Simulate } from '../parts/simulate.tsx';
import { State } from '../parts/state.tsx';
import { Time } from '../parts/time.tsx';
import { useProductName } from '../products.ts';
import { pollMs } from '../queries.ts';
import { Link } from '../router.tsx';
import { Install } from './esim-install.tsx';
import { InstallLinks } from './esim-links.tsx';
import { Timeline, WhyFailed } from './esim-timeline.tsx';
import { TopUp } from './esim-top-up.tsx';

/** An eSIM: what happened to it, what is left of its data, how to install it, and everything one can do with it. */
export default function EsimScreen() {
  const { api } = useClients();
  const at = useAccountPath();
  const iccid = useIdInPath();
  const reading = useReading({
    queryKey: ['esims', iccid],
    queryFn: () => api.esims.get(iccid),
    pollMs,
  });
  const above = <Link to={at('/esims')}>Orders & eSIMs</Link>;
  return (
    <Shown of={reading} what="the eSIM" before={<PageHeader title={<Iccid iccid={iccid} />} above={above} />}>
      {(esim) => (
        <>
          <PageHeader
            title={
              <>
                <Iccid iccid={esim.iccid} /> <State status={esim.status} />
              </>
            }
            above={above}
          >
            <Changes esim={esim} />
          </PageHeader>
          {esim.status === 'failed' && <WhyFailed iccid={iccid} />}
          {esim.profile.error && (
            <p className="error-note" role="status">
              ✕ {esim.profile.error.message}
            </p>
          )}
          <EsimFacts esim={esim} />
          <Parts esim={esim} />
        </>
      )}
    </Shown>
  );
}

function Parts({ esim }: { esim: Esim }) {
  const { mode } = useClients();
  const { iccid, status } = esim;
  return (
    <div className="columns">
      <div>
        <Timeline iccid={iccid} />
      </div>
      <div>
        <Bundles iccid={iccid} />
        <Install esim={esim} />
        {canSimulate(status) && <InstallLinks iccid={iccid} />}
        {mode === 'sandbox' && canSimulate(status) && (
          <Panel title="Simulate">
            <div className="body">
              <p className="quiet">What a phone does with this eSIM.</p>
              <Simulate iccid={iccid} />
            </div>
          </Panel>
        )}
        <Json value={esim} />
      </div>
    </div>
  );
}

function Changes({ esim }: { esim: Esim }) {
  const { iccid, status } = esim;
  if (status === 'failed')
    return (
      <OrderButton label="Order again" again={{ productId: esim.product_id, reference: esim.reference }} />
    );
  if (status === 'terminated') return null;
  return (
    <>
      {status === 'suspended' ? (
        <Action label="Resume" scope="write" call={{ method: 'POST', path: `/v1/esims/${iccid}/resume` }} />
      ) : (
        <Action
          label="Suspend"
          scope="write"
          confirm={{ effect: 'The eSIM loses its connection within seconds, until you resume it.' }}
          call={{ method: 'POST', path: `/v1/esims/${iccid}/suspend` }}
        />
      )}
      <TopUp esim={esim} />
      <Action
        label="Terminate"
        kind="danger"
        scope="write"
        confirm={{ id: iccid, effect: 'This terminates the eSIM permanently and cancels its bundles.' }}
        call={{ method: 'DELETE', path: `/v1/esims/${iccid}` }}
      />
    </>
  );
}

function EsimFacts({ esim }: { esim: Esim }) {
  const { profile, metadata } = esim;
  const productName = useProductName();
  return (
    <Facts>
      <Fact name="Product">
        <span title={esim.product_id}>{productName(esim.product_id)}</span>
      </Fact>
      {esim.reference !== null && (
        <Fact name="Reference">
          <Reference reference={esim.reference} />
        </Fact>
      )}
      <Fact name="Profile">
        {profile.state}
        {profile.updated_at !== null && (
          <>
            , <Time at={profile.updated_at} />
          </>
        )}
      </Fact>
      <Fact name="Service">
        <ServiceNow service={esim.service} />
      </Fact>
      <Fact name="Device">{esim.eid === null ? 'not known' : <code>…{esim.eid.slice(-8)}</code>}</Fact>
      <Fact name="Ordered">
        <Time at={esim.created} />
      </Fact>
      {esim.description !== null && <Fact name="Description">{esim.description}</Fact>}
      {Object.keys(metadata).length > 0 && (
        <Fact name="Metadata">
          <span className="row">
            {Object.entries(metadata).map(([key, value]) => (
              <span key={key} className="chip">
                {key}={value}
              </span>
            ))}
          </span>
        </Fact>
      )}
    </Facts>
  );
}

function Bundles({ iccid }: { iccid: string }) {
  const { api } = useClients();
  const reading = useReading({
    queryKey: ['bundles', iccid],
    queryFn: async () => (await api.bundles.list(iccid, { limit: 20 })).data,
    pollMs,
  });
  return (
    <Panel title="Data">
      <div className="body">
        <Shown of={reading} what="the bundles">
          {(bundles) =>
            bundles.length === 0 ? (
              <p className="quiet">No bundle.</p>
            ) : (
              bundles.map((bundle) => <BundleRow key={bundle.id} bundle={bundle} />)
            )
          }
        </Shown>
      </div>
    </Panel>
  );
}

function BundleRow({ bundle }: { bundle: Bundle }) {
  const productName = useProductName();
  const { data_bytes: size, used_bytes: used, expires_at: end } = bundle;
  const share = size === null ? 0 : used / size;
  const text = size === null ? `${bytes(used)} used of unlimited data` : `${bytes(used)} of ${bytes(size)}`;
  return (
    <div className="bundle">
      <div className="row apart">
        <b title={bundle.product_id}>{productName(bundle.product_id)}</b> <State status={bundle.status} />{' '}
        <Id id={bundle.id} />
      </div>
      <Meter share={share} label={text} isWarning={share >= 0.8} />
      <p className="row apart quiet">
        <span>{text}</span>
        {end !== null && (
          <span>
            ends <Time at={end} />
          </span>
        )}
      </p>
    </div>
  );
}
