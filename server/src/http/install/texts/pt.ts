import type { Texts } from './texts.ts';

export const pt: Texts = {
  heading: {
    ready: 'Instale o seu eSIM',
    downloaded: 'O seu eSIM foi transferido',
    installed: 'O seu eSIM está instalado',
    online: 'Está online',
    failed: 'A instalação não terminou',
    deleted: 'O eSIM foi apagado do telefone',
    paused: 'O seu eSIM está em pausa',
  },
  say: {
    ready: 'Demora dois minutos. Primeiro, ligue o telefone ao Wi-Fi.',
    downloaded: 'Deixe o Wi-Fi ligado até o telefone terminar.',
    installed:
      'Ative a nova linha nas definições, com roaming de dados. Esta página avisa quando estiver online.',
    online: 'O seu eSIM está instalado e ligado.',
    failed: 'Nada se perdeu. Leia abaixo o que fazer e tente de novo.',
    deleted: 'Não pode ser transferido outra vez. Peça um novo ao apoio.',
    paused: 'De momento não está ligado. Pergunte o motivo ao apoio.',
  },
  install: 'Instalar eSIM',
  showQr: 'Mostrar código QR',
  showCode: 'Mostrar código de ativação',
  openSetup: 'Abrir configuração do eSIM',
  confirmSetup: 'Confirme o que o telefone pede e volte a esta página.',
  scan: 'Leia este código com a câmara do telefone que recebe o eSIM.',
  qr: 'Código QR que instala o eSIM',
  byHand: 'Introduzir à mão',
  onIphone:
    'iPhone: Definições › Rede móvel › Adicionar eSIM › Usar código QR › Introduzir detalhes manualmente',
  onAndroid: 'Android: Definições › Rede e Internet › SIMs › Adicionar eSIM › Introduzir o código',
  smdpAddress: 'Endereço SM-DP+',
  activationCode: 'Código de ativação',
  wholeCode: 'Código completo',
  secret: 'Não mostre este código a ninguém: serve uma vez, num telefone.',
  progress: 'Progresso',
  steps: { ready: 'Pronto', downloaded: 'Transferido', installed: 'Instalado', online: 'Online' },
  checkAgain: 'Verificar de novo',
  dataLeft: 'Dados restantes',
  unlimited: 'Ilimitados',
  validUntil: 'Válido até',
  apn: 'APN',
  topUp: 'Obter mais dados',
  back: 'Voltar a {name}',
  trouble: 'Se não funcionar',
  help: {
    wifi: [
      'Sem Wi-Fi?',
      'A transferência precisa de ligação: use uma rede Wi-Fi ou o ponto de acesso de outro telefone e tente de novo.',
    ],
    installed: [
      'Já está instalado?',
      'Um eSIM só se instala uma vez: procure-o nas definições, entre os SIMs, e ative-o.',
    ],
    phone: [
      'Telefone errado ou «não suportado»?',
      'O telefone tem de estar desbloqueado e suportar eSIM: marque *#06#; suporta se aparecer um EID.',
    ],
    used: [
      '«Código já não é válido»?',
      'O código já foi usado num telefone; se não era o seu, contacte o apoio.',
    ],
    memory: [
      '«Não é possível adicionar outro eSIM»?',
      'O telefone está cheio: apague um eSIM antigo de que já não precisa e tente de novo.',
    ],
    confirmation: [
      'Pede um código de confirmação?',
      'Recebeu-o à parte desta ligação; se for recusado, contacte o apoio.',
    ],
    deleted: [
      'Apagado por engano?',
      'Um eSIM apagado não pode ser transferido outra vez: peça um novo ao apoio.',
    ],
    roaming: [
      'Instalado, mas sem Internet?',
      'Ative o roaming de dados da nova linha, escolha-a para dados móveis e reinicie o telefone.',
    ],
    apn: [
      'Ainda sem Internet?',
      'Verifique o APN nas definições da nova linha; a maioria dos telefones define-o sozinho.',
    ],
  },
  support: 'Contactar o apoio',
  otherDevice: 'Instalar noutro dispositivo?',
  computer: 'Computador',
  ended: ['Esta ligação já não é válida', 'Peça uma nova a quem lha enviou.'],
  tooOften: ['Aguarde', 'O código foi pedido demasiadas vezes. Tente de novo daqui a uma hora.'],
};
