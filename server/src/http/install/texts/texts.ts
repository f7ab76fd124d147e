/** How far the eSIM is on its way into the phone. */
export type Step = 'ready' | 'downloaded' | 'installed' | 'online' | 'failed' | 'deleted' | 'paused';

/** What people ask when it does not work. */
export const topics = [
  'wifi',
  'installed',
  'phone',
  'used',
  'memory',
  'confirmation',
  'deleted',
  'roaming',
  'apn',
] as const;

export type Topic = (typeof topics)[number];

/** Everything the page says, in one language. `{name}` is the seller's name. */
export type Texts = {
  heading: Record<Step, string>;
  say: Record<Step, string>;
  install: string;
  showQr: string;
  showCode: string;
  openSetup: string;
  confirmSetup: string;
  scan: string;
  qr: string;
  byHand: string;
  onIphone: string;
  onAndroid: string;
  smdpAddress: string;
  activationCode: string;
  wholeCode: string;
  secret: string;
  progress: string;
  steps: Record<'ready' | 'downloaded' | 'installed' | 'online', string>;
  checkAgain: string;
  dataLeft: string;
  unlimited: string;
  validUntil: string;
  apn: string;
  topUp: string;
  back: string;
  trouble: string;
  help: Record<Topic, readonly [question: string, answer: string]>;
  support: string;
  otherDevice: string;
  computer: string;
  ended: readonly [heading: string, text: string];
  tooOften: readonly [heading: string, text: string];
};
