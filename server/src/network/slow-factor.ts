/** How much longer the sandbox's slow product takes than the others. */
export const slowFactor = 20;
