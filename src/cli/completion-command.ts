/** `interpreter completion bash|zsh|fish`: a script that lets the shell complete our command line. */
import { Argument, type Command } from 'commander';
import type { CommandNode } from './completion/command-tree.js';
import type { Output } from './output.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export function addCompletion(program: Command, output: Output): void {
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', HELP)
    .action(async (shell: Shell) => {
      const { commandTree } = await import('./completion/command-tree.js');
      output.out(await script(shell, commandTree(program)));
    });
}

async function script(shell: Shell, tree: CommandNode): Promise<string> {
  switch (shell) {
    case 'bash':
      return (await import('./completion/bash.js')).bashCompletion(tree);
    case 'zsh':
      return (await import('./completion/zsh.js')).zshCompletion(tree);
    case 'fish':
      return (await import('./completion/fish.js')).fishCompletion(tree);
  }
}

const HELP = `
Put one of these into the start-up file of your shell:
  source <(interpreter completion bash)      # ~/.bashrc
  source <(interpreter completion zsh)       # ~/.zshrc, behind compinit
  interpreter completion fish | source       # ~/.config/fish/config.fish
`;
