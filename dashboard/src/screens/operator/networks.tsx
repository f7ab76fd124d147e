import { PageHeader } from '../../parts/panel.tsx';
import { NetworkTable } from './network-table.tsx';
import { StockTable } from './stock-table.tsx';

export default function Networks() {
  return (
    <>
      <PageHeader title="Networks & stock" about="As the workers see them." />
      <NetworkTable />
      <StockTable />
    </>
  );
}
