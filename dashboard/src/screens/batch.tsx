import type { Batch } from '@simplane/sdk';
import { useState } from 'react';
import { useAccountPath, useIdInPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { Action } from '../parts/action.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { saveFile } from '../parts/export.tsx';
import { number } from '../parts/format.ts';
import { Id } from '../parts/id.tsx';
import { Json } from '../parts/json.tsx';
import { Fact, Facts, PageHeader, Panel } from '../parts/panel.tsx';
import { Shown, useReading } from '../parts/reading.tsx';
import { ScopedButton } from '../parts/scoped-button.tsx';
import { Time } from '../parts/time.tsx';
import { useProductName } from '../products.ts';
import { Link } from '../router.tsx';

/** Many orders at once, until the last one has ended. */
export default function BatchScreen() {
  const { api } = useClients();
  const at = useAccountPath();
  const id = useIdInPath();
  const reading = useReading({
    queryKey: ['batches', id],
    queryFn: () => api.batches.get(id),
    pollMs: (batch) => (batch?.finished_at == null ? 1_000 : false),
  });
  const above = <Link to={at('/esims?view=batches')}>Batches</Link>;
  return (
    <Shown of={reading} what="the batch" before={<PageHeader title={<Id id={id} />} above={above} />}>
      {(batch) => (
        <>
          <PageHeader title={<Id id={batch.id} />} above={above}>
            {batch.open > 0 && (
              <Action
                label="Cancel"
                scope="write"
                confirm={{
                  effect: 'Orders that have not reached the network end now, as canceled. The others go on.',
                }}
                call={{ method: 'POST', path: `/v1/batches/${batch.id}/cancel` }}
              />
            )}
          </PageHeader>
          <BatchProgress batch={batch} />
          <BatchFacts batch={batch} />
          <Downloads batch={batch} />
          <Json value={batch} />
        </>
      )}
    </Shown>
  );
}

/** Read aloud as a progress bar, and told in words beside it. */
export function BatchProgress({ batch: { total, open, failed } }: { batch: Batch }) {
  const ended = total - open;
  return (
    <p className="batch-progress">
      <progress max={total} value={ended} aria-label="Orders that have ended" />{' '}
      <span role="status">
        {number(ended)} of {number(total)}
        {failed > 0 && `, ${number(failed)} failed`}
      </span>
    </p>
  );
}

function BatchFacts({ batch }: { batch: Batch }) {
  const at = useAccountPath();
  const productName = useProductName();
  const orders = (status: string) => at(`/esims?view=orders&batch=${batch.id}&status=${status}`);
  return (
    <Facts>
      <Fact name="Product">{batch.product_id === null ? 'Several' : productName(batch.product_id)}</Fact>
      <Fact name="Orders">
        <Link to={at(`/esims?view=orders&batch=${batch.id}`)}>{number(batch.total)}</Link>
      </Fact>
      <Fact name="Succeeded">
        <Link to={orders('succeeded')}>{number(batch.succeeded)}</Link>
      </Fact>
      <Fact name="Failed">
        <Link to={orders('failed')}>{number(batch.failed)}</Link>
        {batch.canceled > 0 && `, ${number(batch.canceled)} of them canceled`}
      </Fact>
      <Fact name="Created">
        <Time at={batch.created} />
      </Fact>
      <Fact name="Finished">{batch.finished_at === null ? '–' : <Time at={batch.finished_at} />}</Fact>
    </Facts>
  );
}

const files = [
  { format: 'csv', label: 'CSV', extension: 'csv' },
  { format: 'zip', label: 'QR codes (PNG)', extension: 'zip' },
  { format: 'zip_svg', label: 'QR codes (SVG)', extension: 'zip' },
  { format: 'cards', label: 'Cards to print', extension: 'zip' },
] as const;

/** The codes are secrets: they are fetched when asked for, and saved, not shown. */
function Downloads({ batch: { id, succeeded, open } }: { batch: Batch }) {
  const { api } = useClients();
  const [busy, setBusy] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  if (succeeded === 0) return null;
  async function save({ format, extension }: (typeof files)[number]): Promise<void> {
    setBusy(format);
    setError(null);
    try {
      const bytes = await api.batches.installProfilesFile(id, format);
      saveFile(bytes as Uint8Array<ArrayBuffer>, `${id}-${format}.${extension}`);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(null);
    }
  }
  return (
    <Panel title="Install codes">
      <p>
        Whoever has them can install the eSIMs, so each download is in the audit log.
        {open > 0 && ' Orders that are still open are not in the file.'}
      </p>
      <p className="halves">
        {files.map((file) => (
          <ScopedButton
            key={file.format}
            scope="install"
            isBusy={busy === file.format}
            onClick={() => void save(file)}
          >
            {file.label}
          </ScopedButton>
        ))}
      </p>
      {error !== null && <ErrorNote error={error} lead="Could not save the codes." />}
    </Panel>
  );
}
