/** RFC 6761 section 6.3: these names are loopback and are never looked up. */
export function isLocalhostName(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/.test(hostname);
}
