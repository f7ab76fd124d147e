import { useQuery } from '@tanstack/react-query';
import { useClients } from '../../client.ts';
import { Id } from '../../parts/id.tsx';
import { Link } from '../../router.tsx';

// A list shows the same few accounts again and again, and names hardly change.
const nameKeptMs = 60_000;

/** The account by its name, or by its id until the name is known. */
export function AccountLink({ id }: { id: string }) {
  const { operator } = useClients();
  const { data } = useQuery({
    queryKey: ['operator', 'accounts', id],
    queryFn: () => operator.accounts.get(id),
    staleTime: nameKeptMs,
  });
  const to = `/accounts/${id}`;
  if (!data) return <Id id={id} to={to} />;
  return (
    <Link to={to} title={id}>
      {data.name}
    </Link>
  );
}
