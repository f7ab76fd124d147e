import type { WebhookEvent } from '@simplane/sdk';
import { useProductName } from '../products.ts';
import { bytes } from './format.ts';

/** What an event says, in a few words. The data of a test event may be anything, so every field is checked. */
export function EventWhat({ event }: { event: WebhookEvent }) {
  const productName = useProductName();
  const data = event.data as Record<string, unknown>;
  const product = event.type === 'esim.provisioned' ? data['product_id'] : null;
  return (
    <span className="quiet">
      {typeof product === 'string' ? productName(product).split(',')[0] : describe(data)}
    </span>
  );
}

function describe(data: Record<string, unknown>): string | undefined {
  const text = (name: string) => (typeof data[name] === 'string' ? cut(data[name]) : null);
  const count = (name: string) => (typeof data[name] === 'number' ? data[name] : null);
  const [percent, used, size] = [count('threshold_percent'), count('used_bytes'), count('data_bytes')];
  if (percent !== null && size !== null) return `${percent} % of ${bytes(size)}`;
  if (used !== null && size !== null) return `${bytes(used)} of ${bytes(size)}`;
  const [country, before] = [text('country'), text('previous_country')];
  if (country !== null) return before === null ? country : `${before} → ${country}`;
  const { error } = data;
  if (typeof error === 'object' && error !== null && 'code' in error) return cut(String(error.code));
  return /^https?:\/\/([^/]+)/.exec(text('url') ?? '')?.[1];
}

function cut(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
