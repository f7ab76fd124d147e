/** `other`: shows the code to type. An iPhone before iOS 17.4 is one of these: it knows no link that installs. */
export const devices = ['iphone', 'android', 'computer', 'other'] as const;

export type Device = (typeof devices)[number];

/** By its `User-Agent`, unless the reader chose another one. */
export function detectDevice(userAgent = '', chosen?: unknown): Device {
  const named = devices.find((device) => device === chosen);
  if (named) return named;
  if (/iPhone|iPad|iPod/.test(userAgent)) return hasInstallLink(userAgent) ? 'iphone' : 'other';
  if (/Android/.test(userAgent)) return 'android';
  return /Windows NT|Macintosh|X11|CrOS/.test(userAgent) ? 'computer' : 'other';
}

/** iOS 17.4 and later. Browsers write `CPU iPhone OS 17_4_1 like Mac OS X`. */
function hasInstallLink(userAgent: string): boolean {
  const [, major = '0', minor = '0'] = / OS (\d{1,3})_(\d{1,3})/.exec(userAgent) ?? [];
  return Number(major) > 17 || (Number(major) === 17 && Number(minor) >= 4);
}
