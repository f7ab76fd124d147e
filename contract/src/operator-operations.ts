/** The operations of the deployment's operator, under `/v1/operator/`. Each needs the `operator` scope. */
export const operatorOperations = {} as const;
