import { PageHeader } from '../parts/panel.tsx';
import { Link } from '../router.tsx';

export function NotFound() {
  return (
    <>
      <PageHeader title="Not found" about="This address leads nowhere." />
      <p>
        <Link to="/">Home</Link>, or press <kbd>/</kbd> to search for an id.
      </p>
    </>
  );
}
