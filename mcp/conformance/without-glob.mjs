// The suite imports `globSync`, which Node 20 lacks, for a command that is not used here.
import { register } from 'node:module';

register(new URL('./without-glob-hook.mjs', import.meta.url));
