import type { Texts } from './texts.ts';

export const de: Texts = {
  heading: {
    ready: 'eSIM installieren',
    downloaded: 'Die eSIM ist heruntergeladen',
    installed: 'Die eSIM ist installiert',
    online: 'Du bist online',
    failed: 'Die Installation wurde nicht fertig',
    deleted: 'Die eSIM wurde vom Handy gelöscht',
    paused: 'Deine eSIM ist pausiert',
  },
  say: {
    ready: 'Das dauert zwei Minuten. Verbinde das Handy zuerst mit WLAN.',
    downloaded: 'Lass das WLAN an, bis dein Handy fertig ist.',
    installed:
      'Schalte die neue Leitung in den Einstellungen ein, mit Datenroaming. Diese Seite zeigt, wenn du online bist.',
    online: 'Deine eSIM ist installiert und verbunden.',
    failed: 'Es ist nichts verloren. Lies unten, was zu tun ist, und versuche es noch einmal.',
    deleted: 'Sie lässt sich nicht noch einmal laden. Der Support gibt dir eine neue.',
    paused: 'Sie ist gerade nicht verbunden. Frag den Support nach dem Grund.',
  },
  install: 'eSIM installieren',
  showQr: 'QR-Code zeigen',
  showCode: 'Aktivierungscode zeigen',
  openSetup: 'eSIM-Einrichtung öffnen',
  confirmSetup: 'Bestätige, was dein Handy fragt, und komm dann auf diese Seite zurück.',
  scan: 'Scanne diesen Code mit der Kamera des Handys, das die eSIM bekommt.',
  qr: 'QR-Code, der die eSIM installiert',
  byHand: 'Von Hand eingeben',
  onIphone:
    'iPhone: Einstellungen › Mobilfunk › eSIM hinzufügen › QR-Code verwenden › Details manuell eingeben',
  onAndroid: 'Android: Einstellungen › Netzwerk & Internet › SIM-Karten › eSIM hinzufügen › Code eingeben',
  smdpAddress: 'SM-DP+-Adresse',
  activationCode: 'Aktivierungscode',
  wholeCode: 'Ganzer Code',
  secret: 'Zeig diesen Code niemandem: Er gilt einmal, für ein Handy.',
  progress: 'Fortschritt',
  steps: { ready: 'Bereit', downloaded: 'Geladen', installed: 'Installiert', online: 'Online' },
  checkAgain: 'Noch einmal prüfen',
  dataLeft: 'Daten übrig',
  unlimited: 'Unbegrenzt',
  validUntil: 'Gültig bis',
  apn: 'APN',
  topUp: 'Mehr Daten holen',
  back: 'Zurück zu {name}',
  trouble: 'Wenn es nicht klappt',
  help: {
    wifi: [
      'Kein WLAN?',
      'Der Download braucht eine Verbindung: Nutze ein WLAN oder den Hotspot eines anderen Handys und versuche es noch einmal.',
    ],
    installed: [
      'Schon installiert?',
      'Eine eSIM lässt sich nur einmal installieren: Suche sie in den Einstellungen bei den SIM-Karten und schalte sie ein.',
    ],
    phone: [
      'Falsches Handy oder „nicht unterstützt“?',
      'Das Handy muss ohne SIM-Lock sein und eSIM können: Wähle *#06#; erscheint eine EID, kann es das.',
    ],
    used: [
      '„Code nicht mehr gültig“?',
      'Der Code wurde schon auf einem Handy benutzt; war es nicht deins, melde dich beim Support.',
    ],
    memory: [
      '„Keine weitere eSIM möglich“?',
      'Das Handy ist voll: Lösche eine alte eSIM, die du nicht mehr brauchst, und versuche es noch einmal.',
    ],
    confirmation: [
      'Bestätigungscode gefragt?',
      'Du hast ihn getrennt von diesem Link bekommen; wird er abgelehnt, melde dich beim Support.',
    ],
    deleted: [
      'Aus Versehen gelöscht?',
      'Eine gelöschte eSIM lässt sich nicht noch einmal laden: Der Support gibt dir eine neue.',
    ],
    roaming: [
      'Installiert, aber kein Internet?',
      'Schalte Datenroaming für die neue Leitung ein, wähle sie für mobile Daten und starte das Handy neu.',
    ],
    apn: [
      'Immer noch kein Internet?',
      'Prüfe den APN in den Einstellungen der neuen Leitung; die meisten Handys setzen ihn selbst.',
    ],
  },
  support: 'Support fragen',
  otherDevice: 'Auf einem anderen Gerät installieren?',
  computer: 'Computer',
  ended: ['Dieser Link gilt nicht mehr', 'Bitte den Absender um einen neuen.'],
  tooOften: ['Bitte warte', 'Der Code wurde zu oft abgefragt. Versuche es in einer Stunde noch einmal.'],
};
