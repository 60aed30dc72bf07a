/** Completion for fish. */
import { allCommands, type CommandNode, type OptionWord, type Values } from './command-tree.js';

export function fishCompletion(tree: CommandNode): string {
  const commands = allCommands(tree);
  return `# Completion of ${tree.path} for fish. Load it with: ${tree.path} completion fish | source
function __${tree.path}_command
  set -l command ${quote(tree.path)}
  set -l skip 0
  for word in (commandline -opc)[2..]
    if test $skip = 1
      set skip 0
      continue
    end
    switch "$command $word"
${commands.flatMap(steps).join('\n')}
    end
  end
  echo $command
end
function __${tree.path}_at
  test (__${tree.path}_command) = "$argv"
end
complete -c ${tree.path} -f
${commands.flatMap(command => completions(tree.path, command)).join('\n')}
`;
}

function steps(command: CommandNode): string[] {
  const valued = command.options.flatMap(option => (option.values ? option.names : []));
  const inner = command.children.map(
    child => `      case ${child.words.map(word => quote(`${command.path} ${word}`)).join(' ')}
        set command ${quote(child.path)}`,
  );
  if (valued.length === 0) return inner;
  const names = valued.map(name => quote(`${command.path} ${name}`)).join(' ');
  return [...inner, `      case ${names}\n        set skip 1`];
}

function completions(program: string, command: CommandNode): string[] {
  const at = `complete -c ${program} -n ${quote(`__${program}_at ${command.path}`)}`;
  const children = command.children.flatMap(child =>
    child.words.map(word => `${at} -a ${quote(word)} -d ${quote(child.description)}`),
  );
  const { argument } = command;
  const own = argument && argument.type !== 'anything' ? [`${at}${wordsOf(argument)}`] : [];
  return [...children, ...command.options.map(option => at + optionWords(option)), ...own];
}

function optionWords({ names, description, values }: OptionWord): string {
  const flags = names.map(name => (name.startsWith('--') ? ` -l ${name.slice(2)}` : ` -s ${name.slice(1)}`));
  return `${flags.join('')} -d ${quote(description)}${values ? ` -r${wordsOf(values)}` : ''}`;
}

function wordsOf(values: Values): string {
  switch (values.type) {
    case 'words':
      return ` -f -a ${quote(values.words.join(' '))}`;
    case 'files':
      return ' -F';
    case 'folders':
      return ` -f -a '(__fish_complete_directories (commandline -ct))'`;
    case 'anything':
      return ' -f';
  }
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
