import fc from 'fast-check';

// A mutant is dead at the first counterexample: looking for the smallest one took minutes a mutant. A second is enough to find one.
fc.configureGlobal({ endOnFailure: true, interruptAfterTimeLimit: 1_000 });
