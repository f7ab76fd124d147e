/**
 * SQL for the id of a failure's group, derived from the error's code, the network that was called and the network's own code.
 * `error` is an execution's error, or the last error of one that waits; migration 0022 has the same expression.
 */
export function failureGroupOf(error: string, progress: string): string {
  return `'fg_' || left(encode(sha256(convert_to(concat_ws(chr(10),
        ${error} ->> 'code',
        coalesce(${networkOf(progress)}, ''),
        coalesce(${upstreamCodeOf(error)}, '')), 'UTF8')), 'hex'), 24)`;
}

/** SQL for the host of the network that an execution last failed at. */
export function networkOf(progress: string): string {
  return `${progress} #>> '{last_error,network}'`;
}

/** SQL for the network's own code, such as `8.2.5/3.7` or `HTTP 503`. */
export function upstreamCodeOf(error: string): string {
  return `coalesce(
          (${error} #>> '{upstream,subject_code}') || '/' || coalesce(${error} #>> '{upstream,reason_code}', ''),
          'HTTP ' || (${error} #>> '{upstream,status}'))`;
}
