import { AppError } from '../app-error.ts';

export function wrongEid(): AppError {
  return new AppError(
    'parameter_invalid',
    'eid has the wrong check digits, so at least one of its 32 digits is mistyped; read it again from the device.',
    { param: 'eid' },
  );
}
