import type { Texts } from './texts.ts';

export const fr: Texts = {
  heading: {
    ready: 'Installez votre eSIM',
    downloaded: 'Votre eSIM est téléchargée',
    installed: 'Votre eSIM est installée',
    online: 'Vous êtes en ligne',
    failed: 'L’installation ne s’est pas terminée',
    deleted: 'L’eSIM a été supprimée du téléphone',
    paused: 'Votre eSIM est suspendue',
  },
  say: {
    ready: 'Cela prend deux minutes. Connectez d’abord le téléphone au Wi-Fi.',
    downloaded: 'Gardez le Wi-Fi activé jusqu’à ce que votre téléphone ait terminé.',
    installed:
      'Activez la nouvelle ligne dans les réglages, avec l’itinérance des données. Cette page vous dira quand vous êtes en ligne.',
    online: 'Votre eSIM est installée et connectée.',
    failed: 'Rien n’est perdu. Lisez ci-dessous quoi faire, puis réessayez.',
    deleted: 'Elle ne peut pas être téléchargée de nouveau. Demandez-en une autre à l’assistance.',
    paused: 'Elle n’est pas connectée pour le moment. Demandez pourquoi à l’assistance.',
  },
  install: 'Installer l’eSIM',
  showQr: 'Afficher le code QR',
  showCode: 'Afficher le code d’activation',
  openSetup: 'Ouvrir la configuration eSIM',
  confirmSetup: 'Confirmez ce que demande votre téléphone, puis revenez sur cette page.',
  scan: 'Scannez ce code avec l’appareil photo du téléphone qui reçoit l’eSIM.',
  qr: 'Code QR qui installe l’eSIM',
  byHand: 'Saisir à la main',
  onIphone:
    'iPhone : Réglages › Données cellulaires › Ajouter une eSIM › Utiliser un code QR › Saisir les informations manuellement',
  onAndroid: 'Android : Paramètres › Réseau et Internet › Cartes SIM › Ajouter une eSIM › Saisir le code',
  smdpAddress: 'Adresse SM-DP+',
  activationCode: 'Code d’activation',
  wholeCode: 'Code complet',
  secret: 'Ne montrez ce code à personne : il sert une seule fois, sur un seul téléphone.',
  progress: 'Progression',
  steps: { ready: 'Prête', downloaded: 'Téléchargée', installed: 'Installée', online: 'En ligne' },
  checkAgain: 'Vérifier de nouveau',
  dataLeft: 'Données restantes',
  unlimited: 'Illimitées',
  validUntil: 'Valable jusqu’au',
  apn: 'APN',
  topUp: 'Obtenir plus de données',
  back: 'Retour à {name}',
  trouble: 'Si cela ne fonctionne pas',
  help: {
    wifi: [
      'Pas de Wi-Fi ?',
      'Le téléchargement a besoin d’une connexion : rejoignez un réseau Wi-Fi ou le partage d’un autre téléphone, puis réessayez.',
    ],
    installed: [
      'Déjà installée ?',
      'Une eSIM ne s’installe qu’une fois : cherchez-la dans les réglages, parmi les SIM, et activez-la.',
    ],
    phone: [
      'Mauvais téléphone, ou « non pris en charge » ?',
      'Le téléphone doit être déverrouillé et compatible eSIM : composez *#06# ; il l’est si un EID s’affiche.',
    ],
    used: [
      '« Code plus valable » ?',
      'Le code a déjà servi sur un téléphone ; si ce n’était pas le vôtre, contactez l’assistance.',
    ],
    memory: [
      '« Impossible d’ajouter une eSIM » ?',
      'Le téléphone est plein : supprimez une ancienne eSIM inutile, puis réessayez.',
    ],
    confirmation: [
      'Un code de confirmation est demandé ?',
      'Vous l’avez reçu séparément de ce lien ; s’il est refusé, contactez l’assistance.',
    ],
    deleted: [
      'Supprimée par erreur ?',
      'Une eSIM supprimée ne peut pas être téléchargée de nouveau : demandez-en une autre à l’assistance.',
    ],
    roaming: [
      'Installée, mais pas d’Internet ?',
      'Activez l’itinérance des données de la nouvelle ligne, choisissez-la pour les données mobiles et redémarrez le téléphone.',
    ],
    apn: [
      'Toujours pas d’Internet ?',
      'Vérifiez l’APN dans les réglages de la nouvelle ligne ; la plupart des téléphones le règlent seuls.',
    ],
  },
  support: 'Contacter l’assistance',
  otherDevice: 'Installer sur un autre appareil ?',
  computer: 'Ordinateur',
  ended: ['Ce lien n’est plus valable', 'Demandez-en un nouveau à la personne qui vous l’a envoyé.'],
  tooOften: ['Veuillez patienter', 'Le code a été demandé trop souvent. Réessayez dans une heure.'],
};
