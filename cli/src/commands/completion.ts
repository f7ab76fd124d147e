import { Argument, type Command } from 'commander';

/** `completion`: a script for one's shell, made from the commands themselves. */
export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a script that completes commands in your shell')
    .addArgument(new Argument('<shell>', 'which one').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', instructions)
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completionScript } = await import('../completion/script.ts');
      process.stdout.write(completionScript(program, shell));
    });
}

const instructions = `
To use it:
  bash  eval "$(simplane completion bash)"           in ~/.bashrc
  zsh   eval "$(simplane completion zsh)"            in ~/.zshrc, after compinit
  fish  simplane completion fish | source            in ~/.config/fish/config.fish
`;
