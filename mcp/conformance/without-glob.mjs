// The suite imports `globSync`, which Node 20 does not have, for a command that is not used here.
import { register } from 'node:module';

register(new URL('./without-glob-hook.mjs', import.meta.url));
