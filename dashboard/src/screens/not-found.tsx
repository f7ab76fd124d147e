import { PageHeader } from '../parts/panel.tsx';
import { Link } from '../router.tsx';

export default function NotFound() {
  return (
    <>
      <PageHeader title="Not found" about="There is no page at this address." />
      <p>
        <Link to="/">Home</Link>, or press <kbd>/</kbd> to search for an id.
      </p>
    </>
  );
}
