/** RFC 6761 section 6.3: these names are loopback, and no name server is asked about them. */
export function isLocalhostName(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/.test(hostname);
}
