/** An invalid setting; the server does not start. The message names the setting and the values it accepts. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}
