import { Ajv, type ValidateFunction } from 'ajv';

const ajv = new Ajv({ strict: true, allowUnionTypes: true, meta: false, validateSchema: false });

/** Checks what another cell answered against the contract. Compiled by the first call: most deployments never ask another cell. */
export function isFormOf<T>(schema: object): (json: unknown) => json is T {
  let check: ValidateFunction<T> | undefined;
  return (json): json is T => {
    check ??= ajv.compile<T>(schema);
    return check(json);
  };
}
