import { useAccountPath } from '../account-path.ts';
import { Iccid, Id } from './id.tsx';

/** What an event is about: its eSIM, or else its order or endpoint. The data of a test event may be anything. */
export function EventAbout({ data }: { data: Record<string, unknown> }) {
  const at = useAccountPath();
  const text = (name: string) => (typeof data[name] === 'string' ? (data[name] as string) : null);
  const [iccid, execution, endpoint] = [text('iccid'), text('execution_id'), text('webhook_endpoint_id')];
  if (iccid !== null && /^\d{18,22}$/.test(iccid))
    return <Iccid iccid={iccid} to={at(`/esims/${iccid}`)} isShort />;
  if (execution?.startsWith('exec_')) return <Id id={execution} to={at(`/executions/${execution}`)} />;
  if (endpoint?.startsWith('we_')) return <Id id={endpoint} to={at(`/webhooks/${endpoint}`)} />;
  return <span className="quiet">–</span>;
}
