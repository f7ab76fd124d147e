import { useAccountPath } from '../account-path.ts';
import { Link } from '../router.tsx';
import { Copy } from './copy.tsx';

/** The customer's own name for an order. It leads to all orders that have it. */
export function Reference({ reference }: { reference: string | null }) {
  const at = useAccountPath();
  if (reference === null) return <span className="quiet">–</span>;
  return (
    <span className="reference">
      <Link to={at(`/esims?view=orders&reference=${encodeURIComponent(reference)}`)} className="foreign">
        {reference}
      </Link>
      <Copy text={reference} what="reference" />
    </span>
  );
}
