/** The step that gives back a profile after an operator's decision; part of its call id. */
export const returnStep = 'return';
