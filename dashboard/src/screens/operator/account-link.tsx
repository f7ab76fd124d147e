import { useClients } from '../../client.ts';
import { Id } from '../../parts/id.tsx';
import { peek, useReading } from '../../parts/reading.tsx';
import { Link } from '../../router.tsx';

// A list shows the same few accounts again and again, and names hardly change.
const nameKeptMs = 60_000;

/** The account by its name, or by its id until the name is known. */
export function AccountLink({ id }: { id: string }) {
  const { operator } = useClients();
  const reading = useReading({
    queryKey: ['operator', 'accounts', id],
    queryFn: () => operator.accounts.get(id),
    staleMs: nameKeptMs,
  });
  const account = peek(reading);
  const to = `/accounts/${id}`;
  if (!account) return <Id id={id} to={to} />;
  return (
    <Link to={to} title={id}>
      {account.name}
    </Link>
  );
}
