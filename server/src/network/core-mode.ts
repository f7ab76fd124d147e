/**
 * How the operator's core learns about eSIMs. `state`: it gets each eSIM's service. `commands`: it gets suspend and resume.
 * `mock`: the sandbox's mock has every state at once. `none`: there is no core.
 */
export type CoreMode = 'state' | 'commands' | 'mock' | 'none';
