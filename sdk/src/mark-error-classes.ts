type Class = { prototype: object };

// Registered, so that every copy of the SDK in a process has the same symbol.
const mark = Symbol.for('@simplane/sdk/error');

/**
 * Makes `instanceof` recognize errors of another copy of the SDK. A process has two copies if one module uses `import` and
 * another `require`, and an error of one copy is no instance of the other's classes.
 */
export function markErrorClasses(base: Class, classes: Record<string, Class>): void {
  for (const [name, { prototype }] of Object.entries(classes)) {
    Object.defineProperty(prototype, mark, { value: name });
  }
  Object.defineProperty(base, Symbol.hasInstance, {
    value(this: Class, value: unknown): boolean {
      if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
      // A class that extends one of ours inherits its mark but has none of its own.
      return Object.hasOwn(this.prototype, mark) && hasMark(value, markOf(this.prototype));
    },
  });
}

function hasMark(value: unknown, name: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: object | null = Object.getPrototypeOf(value);
  return prototype !== null && (markOf(prototype) === name || hasMark(prototype, name));
}

function markOf(prototype: object): unknown {
  return (prototype as { [mark]?: unknown })[mark];
}
