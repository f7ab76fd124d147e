/** How many times longer the sandbox's slow product takes. */
export const slowFactor = 20;
