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

export function isDashboard({ originalUrl }: Requested): boolean {
  return /^\/dashboard(?:[/?#]|$)/.test(originalUrl);
}
