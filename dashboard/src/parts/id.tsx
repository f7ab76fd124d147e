import { Link } from '../router.tsx';
import { Copy } from './copy.tsx';
import { tail } from './format.ts';

/** An id by its tail, with the whole as its title and a button to copy it. */
export function Id({ id, to }: { id: string; to?: string }) {
  const text = tail(id);
  return (
    <span className="id" data-id={id}>
      {to === undefined ? (
        <code title={id}>{text}</code>
      ) : (
        <Link to={to} title={id}>
          <code>{text}</code>
        </Link>
      )}
      <Copy text={id} what={id} />
    </span>
  );
}

/** An ICCID, dimmed but for the last six digits. */
export function Iccid({ iccid, to, isShort = false }: { iccid: string; to?: string; isShort?: boolean }) {
  const head = isShort ? '…' : iccid.slice(0, -6);
  const text = (
    <code title={iccid}>
      <span className="dim">{head}</span>
      <b>{iccid.slice(isShort ? -7 : -6)}</b>
    </code>
  );
  return (
    <span className="id" data-id={iccid}>
      {to === undefined ? text : <Link to={to}>{text}</Link>}
      <Copy text={iccid} what={`ICCID ${iccid}`} />
    </span>
  );
}
