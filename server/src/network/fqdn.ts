/** A fully qualified domain name, which SGP.22 §4.1 requires in an activation code. */
export const fqdnPattern =
  /^(?=.{4,253}$)([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z][-a-z0-9]{0,61}[a-z0-9]$/i;
