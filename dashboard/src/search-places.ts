import { placeOf } from './account-path.ts';
import type { Clients } from './client.ts';

export type Hit = { to: string; label: string; about: string };

/** The screen of each kind of search result. */
const screens: Record<string, (id: string) => string> = {
  esim: (id) => `/esims/${id}`,
  execution: (id) => `/executions/${id}`,
  event: (id) => `/events/${id}`,
  webhook_endpoint: (id) => `/webhooks/${id}`,
  request: (id) => `/requests/${id}`,
  api_key: (id) => `/keys?id=${id}`,
};

/** An operator's ids lead to the operator's screens; all others are looked up in the account. */
export async function findPlaces(
  { api, isOperator }: Clients,
  text: string,
  viewed: string | null,
): Promise<Hit[]> {
  if (isOperator && viewed === null) {
    if (text.startsWith('acct_')) return [{ to: `/accounts/${text}`, label: text, about: 'account' }];
    if (text.startsWith('exec_')) return [{ to: `/executions/${text}`, label: text, about: 'order' }];
    return [];
  }
  const { data } = await api.search(text);
  return data.flatMap(({ type, id, title }) => {
    const to = screens[type]?.(id);
    return to === undefined ? [] : [{ to: placeOf(to, viewed), label: id, about: title }];
  });
}
