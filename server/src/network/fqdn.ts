/** A fully qualified domain name, as SGP.22 §4.1 wants one in an activation code. */
export const fqdnPattern =
  /^(?=.{4,253}$)([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z][-a-z0-9]{0,61}[a-z0-9]$/i;
