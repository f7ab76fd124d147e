/** Where the page calls the operations of `/v1`. */
const api = '/dashboard/api';

type Requested = { originalUrl: string };

/** The operations are registered once, under `/v1`: the page's calls are routed there, and marked by their original URL. */
export function routeOf(url: string): string {
  return url.startsWith(`${api}/v1/`) ? url.slice(api.length) : url;
}

export function isDashboardCall({ originalUrl }: Requested): boolean {
  return originalUrl.startsWith(`${api}/`);
}

const ownPath = /^\/dashboard(?:[/?#]|$)/;

/** By the route too: the router decodes, so `/%64ashboard` is also the page. */
export function isDashboard({
  originalUrl,
  routeOptions,
}: Requested & { routeOptions: { url?: string | undefined } }): boolean {
  return ownPath.test(originalUrl) || ownPath.test(routeOptions.url ?? '');
}
