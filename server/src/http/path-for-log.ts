const maxPathLength = 200;

// Matches API words, our ids, ICCIDs and most product ids. API keys and activation codes are longer or contain capitals or `$`;
// matching ids contain `-`.
const plainPath = /^(?:\/[a-z0-9_.]{0,40})+$/;
const plainPart = /^[a-z0-9_.]{0,40}$/;

/** The path without the query. A segment that looks like neither a word nor an id may be a secret and becomes `*`. */
export function pathForLog(url: string): string {
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  if (path.length <= maxPathLength && plainPath.test(path)) return path;
  const parts = path.slice(0, maxPathLength).split('/');
  return parts.map((part) => (plainPart.test(part) ? part : '*')).join('/');
}
