/** What the page shows of the seller. */
export type Brand = {
  name: string;
  /** `#rrggbb`, with a text color that can be read on it. */
  color: string;
  textColor: string;
  hasLogo: boolean;
  supportUrl: string | null;
  topUpUrl: string | null;
  apn: string | null;
  /** A sentence of the seller, in the reader's language. */
  message: string | null;
};

export function plainBrand(name: string): Brand {
  return {
    name,
    color: '#1d4ed8',
    textColor: '#ffffff',
    hasLogo: false,
    supportUrl: null,
    topUpUrl: null,
    apn: null,
    message: null,
  };
}
