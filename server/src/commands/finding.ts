/** The result of one `doctor` check. */
export type Finding = { check: string; verdict: 'ok' | 'warning' | 'problem'; says: string };

export function ok(check: string, says: string): Finding {
  return { check, verdict: 'ok', says };
}

export function warning(check: string, says: string): Finding {
  return { check, verdict: 'warning', says };
}

export function problem(check: string, says: string): Finding {
  return { check, verdict: 'problem', says };
}
