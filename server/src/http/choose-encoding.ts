export type Encoding = 'br' | 'gzip' | 'identity';

/** RFC 9110 §12.5.3. Prefers Brotli, which is smaller than gzip; uncompressed if the header is missing or nothing matches. */
export function chooseEncoding(accepted: string | undefined): Encoding {
  if (accepted === undefined) return 'identity';
  const qualities = new Map(
    accepted.split(',').map((part) => {
      const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
      const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return [name, quality === undefined ? 1 : Number(quality)] as const;
    }),
  );
  const qualityOf = (name: Encoding) => qualities.get(name) ?? qualities.get('*') ?? 0;
  return (['br', 'gzip'] as const).find((name) => qualityOf(name) > 0) ?? 'identity';
}
