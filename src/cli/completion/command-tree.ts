/** The command line as completion scripts need it: every command with its words, read off the program itself. */
import type { Command, Option } from 'commander';

/** What a value is completed with. */
export type Values =
  | { readonly type: 'words'; readonly words: readonly string[] }
  | { readonly type: 'files' }
  | { readonly type: 'folders' }
  | { readonly type: 'anything' };

export type OptionWord = {
  /** `-m` and `--model`, those that there are. */
  readonly names: readonly string[];
  readonly description: string;
  /** Null for an option without a value. */
  readonly values: Values | null;
};

export type CommandNode = {
  /** The words that lead to it, without aliases: `interpreter exec resume`. */
  readonly path: string;
  /** Its own word and its aliases. */
  readonly words: readonly string[];
  readonly description: string;
  readonly options: readonly OptionWord[];
  readonly children: readonly CommandNode[];
  /** Of its first argument; null when it has none or only children stand there. */
  readonly argument: Values | null;
};

export function commandTree(command: Command, parent = ''): CommandNode {
  const path = parent === '' ? command.name() : `${parent} ${command.name()}`;
  const help = command.createHelp();
  return {
    path,
    words: [command.name(), ...command.aliases()],
    description: command.summary() || command.description(),
    options: help.visibleOptions(command).map(optionWord),
    children: help.visibleCommands(command).map(child => commandTree(child, path)),
    argument: argumentValues(command),
  };
}

/** All commands, outer ones first. */
export function allCommands(tree: CommandNode): CommandNode[] {
  return [tree, ...tree.children.flatMap(allCommands)];
}

function optionWord(option: Option): OptionWord {
  const takesValue = option.required || option.optional;
  return {
    names: [option.short, option.long].filter(name => name !== undefined),
    description: option.description,
    values: takesValue ? valuesOf(option.flags, option.argChoices) : null,
  };
}

function argumentValues(command: Command): Values | null {
  const [first] = command.registeredArguments;
  return first === undefined ? null : valuesOf(first.name(), first.argChoices);
}

/** The names of placeholders say what they stand for. */
function valuesOf(placeholder: string, choices: readonly string[] | undefined): Values {
  if (choices !== undefined) return { type: 'words', words: choices };
  if (/\bdir\b/.test(placeholder)) return { type: 'folders' };
  return /\bfile\b/.test(placeholder) ? { type: 'files' } : { type: 'anything' };
}
