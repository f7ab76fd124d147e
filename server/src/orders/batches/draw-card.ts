import type { BatchInstallProfiles } from '@simplane/contract';
import { drawQr } from '../esims/qr.ts';

/** A card to print, 85.6 by 54 mm as a bank card: the QR code, and what to type if it cannot be scanned. */
export function drawCard(profile: BatchInstallProfiles['data'][number]): Buffer {
  const {
    iccid,
    reference,
    product_id: productId,
    lpa,
    smdp_address: smdpAddress,
    matching_id: matchingId,
  } = profile;
  const code = drawQr(lpa)
    .svg.bytes.toString()
    .replace(/width="\d+" height="\d+"/, 'x="3" y="7" width="40" height="40"');
  const lines = [
    ['eSIM', productId],
    ['Reference', reference ?? ''],
    ['ICCID', iccid],
    ['SM-DP+ address', smdpAddress],
    ['Activation code', matchingId],
  ] as const;
  const texts = lines
    .filter(([, text]) => text !== '')
    .map(
      ([label, text], at) =>
        `<text x="46" y="${11 + at * 8}" font-size="2.2" fill="#555">${label}</text>` +
        `<text x="46" y="${14.2 + at * 8}" font-size="2.8"${fitted(text)}>${escaped(text)}</text>`,
    );
  return Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="85.6mm" height="54mm" viewBox="0 0 85.6 54" font-family="sans-serif">' +
      `<path fill="#fff" d="M0 0h85.6v54H0z"/>${code}${texts.join('')}</svg>`,
  );
}

/** A long text is drawn narrower, so that it stays on the card. */
function fitted(text: string): string {
  return text.length > 22 ? ' textLength="37" lengthAdjust="spacingAndGlyphs"' : '';
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? '');
}
