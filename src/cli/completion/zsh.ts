/** Completion for zsh. */
import { allCommands, type CommandNode, type OptionWord, type Values } from './command-tree.js';

export function zshCompletion(tree: CommandNode): string {
  return `#compdef ${tree.path}
# Completion of ${tree.path} for zsh. Load it with: source <(${tree.path} completion zsh)
${allCommands(tree).map(functionOf).join('\n')}
if [[ $funcstack[1] == _${tree.path} ]]; then
  _${tree.path} "$@"
else
  compdef _${tree.path} ${tree.path}
fi
`;
}

function functionOf(command: CommandNode): string {
  const name = functionName(command);
  const options = command.options.map(option => `    ${optionSpec(option)} \\`);
  if (command.children.length === 0) {
    return `${name}() {
  _arguments -s -S \\
${options.join('\n')}
    ${quote(`*:argument:${action(command.argument ?? { type: 'anything' })}`)}
}`;
  }
  const children = command.children.flatMap(child =>
    child.words.map(word => quote(`${word}:${child.description.replaceAll(':', ' -')}`)),
  );
  const calls = command.children.map(child => `        ${child.words.map(quote).join('|')}) ${functionName(child)} ;;`);
  return `${name}() {
  local context state state_descr line
  typeset -A opt_args
  local -a commands=(${children.join(' ')})
  _arguments -s -S -C \\
${options.join('\n')}
    '1: :->command' \\
    '*:: :->arguments'
  case $state in
    command) _describe -t commands command commands ;;
    arguments)
      case $line[1] in
${calls.join('\n')}
      esac ;;
  esac
}`;
}

/** `'*'{-m,--model}'[the model to ask]:value:action'` */
function optionSpec({ names, description, values }: OptionWord): string {
  const text = description.replaceAll('[', '(').replaceAll(']', ')').replaceAll(':', ' -');
  const end = quote(`[${text}]${values ? `:value:${action(values)}` : ''}`);
  const [only] = names;
  return names.length === 1 ? `${quote(`*${only}`)}${end}` : `'*'{${names.join(',')}}${end}`;
}

function action(values: Values): string {
  switch (values.type) {
    case 'words':
      return `(${values.words.join(' ')})`;
    case 'files':
      return '_files';
    case 'folders':
      return '_files -/';
    case 'anything':
      return ' ';
  }
}

function functionName({ path }: CommandNode): string {
  return `_${path.replaceAll(/[^A-Za-z0-9]/g, '_')}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
