import { Argument, type Command } from 'commander';

/** `completion`: prints a shell script generated from the command definitions. */
export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a shell completion script')
    .addArgument(new Argument('<shell>', 'your shell').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', instructions)
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completionScript } = await import('../completion/script.ts');
      process.stdout.write(completionScript(program, shell));
    });
}

const instructions = `
Add to your shell's startup file:
  bash  eval "$(simplane completion bash)"           in ~/.bashrc
  zsh   eval "$(simplane completion zsh)"            in ~/.zshrc, after compinit
  fish  simplane completion fish | source            in ~/.config/fish/config.fish
`;
