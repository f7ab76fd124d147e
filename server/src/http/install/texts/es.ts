import type { Texts } from './texts.ts';

export const es: Texts = {
  heading: {
    ready: 'Instala tu eSIM',
    downloaded: 'Tu eSIM está descargada',
    installed: 'Tu eSIM está instalada',
    online: 'Estás en línea',
    failed: 'La instalación no terminó',
    deleted: 'La eSIM se eliminó del teléfono',
    paused: 'Tu eSIM está en pausa',
  },
  say: {
    ready: 'Tarda dos minutos. Conecta antes el teléfono a una red wifi.',
    downloaded: 'Deja el wifi encendido hasta que el teléfono termine.',
    installed:
      'Activa la línea nueva en los ajustes, con itinerancia de datos. Esta página te avisa cuando estés en línea.',
    online: 'Tu eSIM está instalada y conectada.',
    failed: 'No se ha perdido nada. Lee abajo qué hacer y vuelve a intentarlo.',
    deleted: 'No se puede descargar otra vez. Pide una nueva al servicio de ayuda.',
    paused: 'Ahora no está conectada. Pregunta el motivo al servicio de ayuda.',
  },
  install: 'Instalar la eSIM',
  showQr: 'Mostrar el código QR',
  showCode: 'Mostrar el código de activación',
  openSetup: 'Abrir la configuración de eSIM',
  confirmSetup: 'Confirma lo que pide el teléfono y vuelve a esta página.',
  scan: 'Escanea este código con la cámara del teléfono que recibe la eSIM.',
  qr: 'Código QR que instala la eSIM',
  byHand: 'Introducirlo a mano',
  onIphone:
    'iPhone: Ajustes › Datos móviles › Añadir eSIM › Usar código QR › Introducir los datos manualmente',
  onAndroid: 'Android: Ajustes › Redes e Internet › SIM › Añadir eSIM › Introducir el código',
  smdpAddress: 'Dirección SM-DP+',
  activationCode: 'Código de activación',
  wholeCode: 'Código completo',
  secret: 'No enseñes este código a nadie: sirve una vez, en un teléfono.',
  progress: 'Progreso',
  steps: { ready: 'Lista', downloaded: 'Descargada', installed: 'Instalada', online: 'En línea' },
  checkAgain: 'Comprobar de nuevo',
  dataLeft: 'Datos restantes',
  unlimited: 'Ilimitados',
  validUntil: 'Válida hasta',
  apn: 'APN',
  topUp: 'Conseguir más datos',
  back: 'Volver a {name}',
  trouble: 'Si no funciona',
  help: {
    wifi: [
      '¿No hay wifi?',
      'La descarga necesita conexión: usa una red wifi o el punto de acceso de otro teléfono y vuelve a intentarlo.',
    ],
    installed: [
      '¿Ya está instalada?',
      'Una eSIM solo se instala una vez: búscala en los ajustes, entre las SIM, y actívala.',
    ],
    phone: [
      '¿Otro teléfono o «no compatible»?',
      'El teléfono debe estar libre y admitir eSIM: marca *#06#; la admite si aparece un EID.',
    ],
    used: [
      '¿«El código ya no es válido»?',
      'El código ya se usó en un teléfono; si no era el tuyo, contacta con el servicio de ayuda.',
    ],
    memory: [
      '¿«No se puede añadir otra eSIM»?',
      'El teléfono está lleno: elimina una eSIM antigua que no necesites y vuelve a intentarlo.',
    ],
    confirmation: [
      '¿Pide un código de confirmación?',
      'Lo recibiste aparte de este enlace; si se rechaza, contacta con el servicio de ayuda.',
    ],
    deleted: [
      '¿Eliminada por error?',
      'Una eSIM eliminada no se puede descargar otra vez: pide una nueva al servicio de ayuda.',
    ],
    roaming: [
      '¿Instalada, pero sin Internet?',
      'Activa la itinerancia de datos de la línea nueva, elígela para los datos móviles y reinicia el teléfono.',
    ],
    apn: [
      '¿Sigue sin Internet?',
      'Comprueba el APN en los ajustes de la línea nueva; la mayoría de los teléfonos lo ponen solos.',
    ],
  },
  support: 'Pedir ayuda',
  otherDevice: '¿Instalar en otro dispositivo?',
  computer: 'Ordenador',
  ended: ['Este enlace ya no sirve', 'Pide uno nuevo a quien te lo envió.'],
  tooOften: ['Espera un poco', 'El código se pidió demasiadas veces. Vuelve a intentarlo en una hora.'],
};
