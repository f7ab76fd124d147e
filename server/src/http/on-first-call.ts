/** Makes the function when it is first called. Compiling the schemas of all operations took a quarter of a process's start. */
export function onFirstCall<Args extends unknown[], Result>(
  make: () => (...args: Args) => Result,
): (...args: Args) => Result {
  let made: ((...args: Args) => Result) | undefined;
  return (...args) => {
    made ??= make();
    return made(...args);
  };
}
