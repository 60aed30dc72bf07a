/** Completion for bash, without the package bash-completion. */
import { allCommands, type CommandNode, type Values } from './command-tree.js';

export function bashCompletion(tree: CommandNode): string {
  const commands = allCommands(tree);
  return `# Completion of ${tree.path} for bash. Load it with: source <(${tree.path} completion bash)
_${tree.path}() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" command="${tree.path}" word skip="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ -n $skip ]]; then skip=""; continue; fi
    [[ $word == -- ]] && return
    case "$command $word" in
${commands.flatMap(stepsTo).join('\n')}
${commands.flatMap(skips).join('\n')}
    esac
  done
  case "$command $prev" in
${commands.flatMap(values).join('\n')}
  esac
  case "$command" in
${commands.map(words).join('\n')}
  esac
}
complete -o bashdefault -F _${tree.path} ${tree.path}
`;
}

function stepsTo(command: CommandNode): string[] {
  return command.children.map(child => `      ${patterns(command.path, child.words)}) command=${quote(child.path)} ;;`);
}

/** The word behind an option with a value is no command. */
function skips(command: CommandNode): string[] {
  const names = command.options.flatMap(option => (option.values ? option.names : []));
  return names.length === 0 ? [] : [`      ${patterns(command.path, names)}) skip=1 ;;`];
}

function values(command: CommandNode): string[] {
  return command.options.flatMap(({ names, values: found }) =>
    found ? [`    ${patterns(command.path, names)}) ${generate(found)}; return ;;`] : [],
  );
}

function words(command: CommandNode): string {
  const own = [...command.children.flatMap(child => child.words), ...command.options.flatMap(option => option.names)];
  const list = `COMPREPLY=($(compgen -W ${quote(own.join(' '))} -- "$cur"))`;
  const { argument } = command;
  const more = argument && argument.type !== 'anything' ? `; [[ $cur == -* ]] || ${generate(argument, '+=')}` : '';
  return `    ${quote(command.path)}) ${list}${more} ;;`;
}

/** Names may hold blanks; old versions of bash do not know `compopt`. */
const NAMES = `compopt -o filenames 2>/dev/null; local IFS=$'\\n'`;

function generate(found: Values, assign: '=' | '+=' = '='): string {
  switch (found.type) {
    case 'words':
      return `COMPREPLY${assign}($(compgen -W ${quote(found.words.join(' '))} -- "$cur"))`;
    case 'files':
      return `${NAMES}; COMPREPLY${assign}($(compgen -f -- "$cur"))`;
    case 'folders':
      return `${NAMES}; COMPREPLY${assign}($(compgen -d -- "$cur"))`;
    case 'anything':
      return 'COMPREPLY=()';
  }
}

function patterns(path: string, last: readonly string[]): string {
  return last.map(word => quote(`${path} ${word}`)).join('|');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
