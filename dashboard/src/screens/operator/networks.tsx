import { PageHeader } from '../../parts/panel.tsx';
import { CoreChanges } from './core-changes.tsx';
import { NetworkTable } from './network-table.tsx';
import { StockTable } from './stock-table.tsx';

export default function Networks() {
  return (
    <>
      <PageHeader title="Networks & stock" about="As the workers see them." />
      <NetworkTable />
      <CoreChanges />
      <StockTable />
    </>
  );
}
