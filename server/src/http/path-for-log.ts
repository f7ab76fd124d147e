const longest = 200;

// Words of the API, our ids, ICCIDs, most product ids. Keys and activation codes have capitals, `$` or a length beyond these;
// matching ids have groups with a `-` between them.
const plainPath = /^(?:\/[a-z0-9_.]{0,40})+$/;
const plainPart = /^[a-z0-9_.]{0,40}$/;

/**
 * The path of a request as a log line may have it: no query, and of the path only what looks like a word or an id. All else,
 * percent-encoded or not, came from a client by mistake or on purpose, and is shown as `*`.
 */
export function pathForLog(url: string): string {
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  if (path.length <= longest && plainPath.test(path)) return path;
  const parts = path.slice(0, longest).split('/');
  return parts.map((part) => (plainPart.test(part) ? part : '*')).join('/');
}
