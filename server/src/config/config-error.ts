/** A setting that stops the start; the message names it and says what it takes. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}
