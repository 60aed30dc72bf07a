import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recognisePatchCommand } from '../../src/tools/index.js';
import { update } from './apply-patch-support.js';

const patch = update('f', '@@', '-a', '+it\'s $HOME `x` \\ "q"');

describe('a script that is nothing but a patch', () => {
  const table: Record<string, [string, string | null]> = {
    'a here-document with quoted delimiter': [`apply_patch <<'EOF'\n${patch}\nEOF`, null],
    'double quotes around the delimiter': [`apply_patch <<"END_1"\n${patch}\nEND_1\n`, null],
    'an unquoted delimiter, taken literally all the same': [`apply_patch <<EOF\n${patch}\nEOF`, null],
    'an escaped delimiter': [`apply_patch <<\\EOF\n${patch}\nEOF`, null],
    'the other name of the program and no blank': [`applypatch<<'EOF'\n${patch}\nEOF`, null],
    'blanks around': [`\n  apply_patch   << 'EOF'  \n${patch}\nEOF\n\n`, null],
    'CRLF lines': [`apply_patch <<'EOF'\n${patch}\nEOF\n`.replaceAll('\n', '\r\n'), null],
    'a directory': [`cd sub/dir-1 && apply_patch <<'EOF'\n${patch}\nEOF`, 'sub/dir-1'],
    'an absolute directory': [`cd /w/x&&apply_patch <<'EOF'\n${patch}\nEOF`, '/w/x'],
    'a quoted directory': [`cd 'my dir' && apply_patch <<'EOF'\n${patch}\nEOF`, 'my dir'],
    'a directory in double quotes': [`cd "my dir" &&\napply_patch <<'EOF'\n${patch}\nEOF`, 'my dir'],
    'one quoted argument': [`apply_patch '${patch.replaceAll("'", "'\\''")}'`, null],
    'one argument in double quotes': [`apply_patch "${patch.replace(/[\\"$`]/g, '\\$&')}"`, null],
    'a here-document that strips tabs': [`apply_patch <<-'EOF'\n${patch.replace(/^/gm, '\t')}\n\tEOF`, null],
  };
  it.each(Object.entries(table))('is seen in the form of %s', (_, [script, cwd]) => {
    expect(recognisePatchCommand(script)).toEqual({ patch, cwd });
  });
});

describe('any other script is left to the shell', () => {
  const document = `apply_patch <<'EOF'\n${patch}\nEOF`;
  const table: Record<string, string> = {
    'a command before': `ls; ${document}`,
    'a command behind': `${document}\nls`,
    'a command on the line of the delimiter': `apply_patch <<'EOF' && ls\n${patch}\nEOF`,
    'an early end of the document': `apply_patch <<'EOF'\n${patch}\nEOF\nrm x\nEOF`,
    'no end of the document': `apply_patch <<'EOF'\n${patch}`,
    'an indented end': `apply_patch <<'EOF'\n${patch}\n  EOF`,
    'a redirection': `apply_patch <<'EOF' > log\n${patch}\nEOF`,
    'a pipe into it': `cat p | apply_patch`,
    'an option': `apply_patch -v <<'EOF'\n${patch}\nEOF`,
    'two arguments': `apply_patch '${update('f', '-a')}' 'x'`,
    'a variable in double quotes': `apply_patch "${update('$f', '-a')}"`,
    'a substitution in double quotes': 'apply_patch "*** Begin Patch\n`ls`"',
    'quotes that end early': `apply_patch "*** Begin Patch" x "*** End Patch"`,
    'two directories': `cd a && cd b && ${document}`,
    'a directory that the shell expands': `cd $HOME && ${document}`,
    'a home directory': `cd ~/x && ${document}`,
    'the previous directory': `cd - && ${document}`,
    'cd with ;': `cd a; ${document}`,
    'cd with ||': `cd a || ${document}`,
    'an assignment': `A=1 ${document}`,
    'a longer name': `apply_patch2 <<'EOF'\n${patch}\nEOF`,
    'a program by path': `./apply_patch <<'EOF'\n${patch}\nEOF`,
    'a text that is no patch': `apply_patch <<'EOF'\nhello\nEOF`,
    'only talk of it': `echo "apply_patch <<'EOF'"`,
    nothing: '',
  };
  it.each(Object.entries(table))('%s', (_, script) => {
    expect(recognisePatchCommand(script)).toBeNull();
  });
});

it('a quoted argument is read as a shell reads it', () => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '\\', '"', "'", '$', '`', 'n'), maxLength: 12 });
  fc.assert(
    fc.property(text, fc.constantFrom('"', "'"), (inner, quote) => {
      const found = recognisePatchCommand(`apply_patch ${quote}*** ${inner}${quote}`);
      fc.pre(found !== null);
      const said = execFileSync('/bin/sh', ['-c', `printf %s ${quote}*** ${inner}${quote}`], { encoding: 'utf8' });
      expect(found?.patch).toBe(said);
    }),
    { numRuns: 80 },
  );
});
