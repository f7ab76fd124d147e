import type { Texts } from './texts.ts';

export const it: Texts = {
  heading: {
    ready: 'Installa la tua eSIM',
    downloaded: 'La tua eSIM è stata scaricata',
    installed: 'La tua eSIM è installata',
    online: 'Sei online',
    failed: 'L’installazione non è terminata',
    deleted: 'La eSIM è stata eliminata dal telefono',
    paused: 'La tua eSIM è in pausa',
  },
  say: {
    ready: 'Bastano due minuti. Prima collega il telefono al Wi-Fi.',
    downloaded: 'Lascia il Wi-Fi acceso finché il telefono non ha finito.',
    installed:
      'Attiva la nuova linea nelle impostazioni, con il roaming dati. Questa pagina ti avvisa quando sei online.',
    online: 'La tua eSIM è installata e connessa.',
    failed: 'Non hai perso nulla. Leggi qui sotto cosa fare, poi riprova.',
    deleted: 'Non si può scaricare di nuovo. Chiedine una nuova all’assistenza.',
    paused: 'Al momento non è connessa. Chiedi il motivo all’assistenza.',
  },
  install: 'Installa eSIM',
  showQr: 'Mostra il codice QR',
  showCode: 'Mostra il codice di attivazione',
  openSetup: 'Apri la configurazione eSIM',
  confirmSetup: 'Conferma ciò che chiede il telefono, poi torna a questa pagina.',
  scan: 'Inquadra questo codice con la fotocamera del telefono che riceve la eSIM.',
  qr: 'Codice QR che installa la eSIM',
  byHand: 'Inseriscilo a mano',
  onIphone:
    'iPhone: Impostazioni › Cellulare › Aggiungi eSIM › Usa codice QR › Inserisci dettagli manualmente',
  onAndroid: 'Android: Impostazioni › Rete e Internet › SIM › Aggiungi eSIM › Inserisci il codice',
  smdpAddress: 'Indirizzo SM-DP+',
  activationCode: 'Codice di attivazione',
  wholeCode: 'Codice completo',
  secret: 'Non mostrare questo codice a nessuno: vale una volta, su un telefono.',
  progress: 'Avanzamento',
  steps: { ready: 'Pronta', downloaded: 'Scaricata', installed: 'Installata', online: 'Online' },
  checkAgain: 'Controlla di nuovo',
  dataLeft: 'Dati rimasti',
  unlimited: 'Illimitati',
  validUntil: 'Valida fino al',
  apn: 'APN',
  topUp: 'Altri dati',
  back: 'Torna a {name}',
  trouble: 'Se non funziona',
  help: {
    wifi: [
      'Niente Wi-Fi?',
      'Per scaricare serve una connessione: usa una rete Wi-Fi o l’hotspot di un altro telefono, poi riprova.',
    ],
    installed: [
      'È già installata?',
      'Una eSIM si installa una sola volta: cercala nelle impostazioni, tra le SIM, e attivala.',
    ],
    phone: [
      'Telefono sbagliato o «non supportato»?',
      'Il telefono deve essere sbloccato e supportare le eSIM: digita *#06#; le supporta se appare un EID.',
    ],
    used: [
      '«Codice non più valido»?',
      'Il codice è già stato usato su un telefono; se non era il tuo, contatta l’assistenza.',
    ],
    memory: [
      '«Impossibile aggiungere un’altra eSIM»?',
      'Il telefono è pieno: elimina una vecchia eSIM che non ti serve, poi riprova.',
    ],
    confirmation: [
      'Chiede un codice di conferma?',
      'L’hai ricevuto separatamente da questo link; se viene rifiutato, contatta l’assistenza.',
    ],
    deleted: [
      'Eliminata per sbaglio?',
      'Una eSIM eliminata non si può scaricare di nuovo: chiedine una nuova all’assistenza.',
    ],
    roaming: [
      'Installata, ma senza Internet?',
      'Attiva il roaming dati della nuova linea, sceglila per i dati mobili e riavvia il telefono.',
    ],
    apn: [
      'Ancora senza Internet?',
      'Controlla l’APN nelle impostazioni della nuova linea; quasi tutti i telefoni lo impostano da soli.',
    ],
  },
  support: 'Contatta l’assistenza',
  otherDevice: 'Installi su un altro dispositivo?',
  computer: 'Computer',
  ended: ['Questo link non è più valido', 'Chiedine uno nuovo a chi te l’ha mandato.'],
  tooOften: ['Attendi', 'Il codice è stato chiesto troppe volte. Riprova tra un’ora.'],
};
