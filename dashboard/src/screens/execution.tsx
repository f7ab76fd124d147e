import type { Execution } from '@simplane/sdk';
import { useAccountPath, useIdInPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { Action } from '../parts/action.tsx';
import { Iccid, Id } from '../parts/id.tsx';
import { Json } from '../parts/json.tsx';
import { OrderButton } from '../parts/order-form.tsx';
import { Fact, Facts, PageHeader } from '../parts/panel.tsx';
import { Shown, useReading } from '../parts/reading.tsx';
import { Reference } from '../parts/reference.tsx';
import { State } from '../parts/state.tsx';
import { Time, useNowSeconds } from '../parts/time.tsx';
import { useProductName } from '../products.ts';
import { Link } from '../router.tsx';
import { InstallLinks } from './esim-links.tsx';

/** One order or change, until it has ended. */
export default function ExecutionScreen() {
  const { api } = useClients();
  const at = useAccountPath();
  const id = useIdInPath();
  const reading = useReading({
    queryKey: ['executions', id],
    queryFn: () => api.executions.get(id),
    pollMs: (execution) => (execution?.finished_at == null ? 1_000 : false),
  });
  const above = <Link to={at('/esims?view=orders')}>Orders</Link>;
  return (
    <Shown of={reading} what="the order" before={<PageHeader title={<Id id={id} />} above={above} />}>
      {(execution) => (
        <>
          <PageHeader
            title={
              <>
                <Id id={execution.id} /> <State status={execution.status} />
              </>
            }
            above={above}
          >
            <Next execution={execution} />
          </PageHeader>
          {execution.error && (
            <div className="error-note" role="status">
              <p>
                ✕ <code>{execution.error.code}</code> {execution.error.message}
              </p>
            </div>
          )}
          <Waiting execution={execution} />
          <ExecutionFacts execution={execution} />
          {hasEsim(execution) && <InstallLinks iccid={execution.iccid} />}
          <Json value={execution} />
        </>
      )}
    </Shown>
  );
}

function hasEsim(execution: Execution): execution is Execution & { iccid: string } {
  const { type, status, iccid } = execution;
  return type === 'esim.provision' && status === 'succeeded' && iccid !== null;
}

/** The next step: the eSIM, another try, or a way back. */
function Next({ execution }: { execution: Execution }) {
  const at = useAccountPath();
  const { id, type, status, iccid, product_id: product, retried_by: after } = execution;
  if (status === 'succeeded' && iccid !== null)
    return (
      <Link to={at(`/esims/${iccid}`)} className="control main">
        Open the eSIM
      </Link>
    );
  if (status === 'failed' && type === 'esim.provision' && product !== null && after === undefined)
    return <OrderButton label="Order again" again={{ productId: product, reference: execution.reference }} />;
  if (status !== 'queued' || type !== 'esim.provision') return null;
  return (
    <Action
      label="Cancel"
      scope="write"
      confirm={{ effect: 'The order ends now, as failed with the cause “canceled”. Nothing is ordered.' }}
      call={{ method: 'POST', path: `/v1/executions/${id}/cancel` }}
    />
  );
}

// Most orders end within seconds. One that has just been accepted is no reason to worry.
const usualSeconds = 30;

function Waiting({ execution }: { execution: Execution }) {
  const now = useNowSeconds();
  const { status, attempts, created, waiting_for: cause, next_attempt_at: next } = execution;
  const isOpen = status === 'queued' || status === 'running';
  if (!isOpen) return null;
  if (attempts <= 1 && now - created < usualSeconds)
    return (
      <p className="notice info" role="status">
        ◐ Accepted. Most orders take a few seconds; this page follows it.
      </p>
    );
  if (cause === null) return null;
  return (
    <p className="notice" role="status">
      ◐ {cause}{' '}
      {next !== null && (
        <>
          Next attempt: <Time at={next} />.
        </>
      )}
    </p>
  );
}

function ExecutionFacts({ execution }: { execution: Execution }) {
  const at = useAccountPath();
  const productName = useProductName();
  const { iccid, product_id: product, finished_at: finished } = execution;
  const isOpen = finished === null;
  return (
    <Facts>
      <Fact name="Type">
        <code>{execution.type}</code>
      </Fact>
      {product !== null && (
        <Fact name="Product">
          <span title={product}>{productName(product)}</span>
        </Fact>
      )}
      <Fact name="eSIM">
        {iccid !== null ? (
          <Iccid iccid={iccid} to={at(`/esims/${iccid}`)} />
        ) : isOpen ? (
          'not known yet'
        ) : (
          'none'
        )}
      </Fact>
      {execution.batch_id !== undefined && (
        <Fact name="Batch">
          <Id id={execution.batch_id} to={at(`/batches/${execution.batch_id}`)} />
        </Fact>
      )}
      {execution.reference !== null && (
        <Fact name="Reference">
          <Reference reference={execution.reference} />
        </Fact>
      )}
      <Fact name="Attempts">{execution.attempts}</Fact>
      <Fact name="Accepted">
        <Time at={execution.created} />
      </Fact>
      {finished !== null && (
        <Fact name="Ended">
          <Time at={finished} />
        </Fact>
      )}
    </Facts>
  );
}
