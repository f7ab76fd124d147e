import fc from 'fast-check';

// The first counterexample kills a mutant. Shrinking it took minutes per mutant; one second is enough to find one.
fc.configureGlobal({ endOnFailure: true, interruptAfterTimeLimit: 1_000 });
