import { describe, expect, test } from 'vitest';
import { judge, needsGrammar } from '../../src/approvals/index.js';
import { contextOf, inWords, shell, verdictOn } from './support.js';

const lines = (text: string) =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '');

// Known to only read: not asked under `untrusted`.
const SAFE = [
  ...lines(`
    ls
    ls -la src
    ls *
    ls *.ts src/[a-c]?
    ls ~
    cat a.txt b.txt
    cd src
    cut -d: -f1 /etc/passwd
    echo hello
    echo 'a > b; rm -rf $x \`y\`'
    echo "a > b; (c) & d"
    echo if then fi
    expr 1 + 2
    false
    grep -rn 'foo(bar)' .
    grep -n "it's" a.txt
    head -n 5 a.txt
    id
    nl -ba a.txt
    paste a b
    pwd
    rev a
    seq 1 3
    stat a
    tail -f a
    tr a b
    true
    uname -a
    uniq
    uniq -c a.txt
    uniq -f 1 a.txt
    wc -l a.txt
    which node
    whoami
    numfmt 1
    tac a
    base64 a
    base64 -d a
    base64 -w 0 a
    /bin/ls
    /usr/bin/cat a
    /usr/local/bin/rg x
    find . -name x
    find . -name '*.ts' -not -path './x/*'
    find . ! -name x
    find src/* -type f
    find . \\( -name a -o -name b \\)
    rg x
    rg x . | head -1
    rg -n "a\\.b" src
    rg --files -g '*.zip'
    rg -g'*.zip' x
    rg --pretty x
    rg -p x
    sed -n 1p f
    sed -n 1,5p f
    sed -n '1,5p' f | head
    sed -n 3p
    git status
    git status --short
    git log
    git log --oneline -5
    git diff HEAD~1 -- src
    git diff --stat
    git show HEAD^{}
    git show HEAD@{1}
    git show HEAD:src/a.ts
    git --no-pager log
    git branch
    git branch -a
    git branch --list --verbose
    git branch --show-current
    git branch --format='%(refname)'
    ls && cat x | wc -l; pwd || true
    ls;
    ls ; ls
    ls|cat
    cat 'résumé.txt'
    l's' 'a b'
    "ls" -l
    ls a#b
    cat foo\\ bar
    ls	-l
  `),
  'ls\ncat a\n',
  'ls &&\n  cat a |\n  wc',
  'cat "a\nb"',
];

// Asked under `untrusted`, for one reason per line.
const ASKED = [
  ...lines(`
    touch x
    X=1 ls
    X=1
    X=1; ls
    ls $(pwd)
    ls \`pwd\`
    ls "$(pwd)"
    ls "\`pwd\`"
    ls $HOME
    ls "$HOME"
    ls \${HOME}
    (ls)
    { ls; }
    ls &
    ls & ls
    ls |& cat
    ! ls
    time ls
    echo hi > f
    echo hi >> f
    echo hi>f
    echo hi 2> f
    ls >&2
    ls 2>&1
    cat < f
    cat <<< x
    cat <(ls)
    ls >(cat)
    ls > /dev/null
    ls # comment
    ls #
    #ls
    find . -delete
    find . -exec touch made.txt ;
    find . -exec touch made.txt \\;
    find . -execdir ls +
    find . -ok ls
    find . -okdir ls
    find . -fls f
    find . -fprint f
    find . -fprint0 f
    find . -fprintf f %p
    find . -{delete,x}
    find . -del\\ete
    find . '-delete'
    find . -"delete"
    find . *
    find * -name x
    find . -d*
    find . {a,b}
    find . -{de..df}
    rg --pre cat x
    rg --pre=cat x
    rg --hostname-bin x y
    rg --hostname-bin=x y
    rg --search-zip x
    rg -z x
    rg -nz x
    rg x *
    rg x ?
    base64 -o x y
    base64 -ox y
    base64 -Do x y
    base64 --output x y
    base64 --output=x y
    base64 --out=x y
    uniq a b
    uniq -c a b
    uniq -f 1 a b
    uniq a*
    sed -n 1p -fx
    sed -n 1p -i
    sed -n 1,5p f g
    sed -i s/a/b/ f
    sed s/a/b/ f
    sed -n 's/a/b/w x' f
    sed -n '1e ls' f
    sed 1p f
    sed -n -e 1p f
    git
    git push
    git -C . status
    git -c core.pager=x log
    git -cfoo.bar=x log
    git -p log
    git --paginate log
    git --git-dir=x log
    git --work-tree=x status
    git --exec-path=x status
    git --namespace=x log
    git --config-env=a=b log
    git log --output=x
    git log --output x
    git log --outpu=x
    git log --outp x
    git diff --ext-diff
    git diff --ext
    git show --textconv
    git log --show-signature
    git log --format=%G?
    git log --exec=x
    git branch new
    git branch -d old
    git branch -D old
    git branch -m a b
    git branch --list -d x
    git fetch
    git grep -O x
    ./ls
    src/ls
    /tmp/ls
    ../bin/cat x
    ~/bin/ls
    l* x
    l\\
    ls \\
    bash -c ls
    sh -c 'ls'
    sudo ls
    env ls
    command ls
    builtin echo
    exec ls
    eval ls
    . ./x
    source x
    xargs ls
    alias ls='touch x'
    function ls { touch x; }
    ls() { touch x; }; ls
    if true; then ls; fi
    for i in a; do ls; done
    while true; do ls; done
    case a in a) ls;; esac
    [ -f x ]
    [[ -f x ]]
    test -f x
    export A=1
    ls; export A=1
    declare -x A=1
    unset x
    cat $'a'
    cat $"a"
    echo {a,b}
    echo {1..3}
    ls *(x)
    ls !(x)
    ls @(a|b)
    ls; touch made.txt
    ls | tee made.txt
    ls && touch x
    ls || touch x
    touch x; ls
    cat a | sh
    printf x
    awk 1 f
    sort -o x y
    tee x
    dd if=a of=b
    tail a | xargs touch
    yes
    node x
    ls;;
    ls &&
    && ls
    | ls
    ls | | cat
    ls ; ; ls
    echo "unclosed
    echo 'unclosed
    coproc ls
    select i in a; do ls; done
    ls\u00a0x
    ls \u2003 x
    cat r\u00e9sum\u00e9.txt
    $(ls)
    "$x"
    -x
    nocorrect ls
  `),
  'cat <<EOF\nx\nEOF',
  "cat <<'EOF' | sh\ntouch x\nEOF",
  'ls \\\n -l',
  'l\\\ns',
  'find . -del\\\nete',
  'ls\r\ntouch x',
  'ls\rtouch x',
  'ls\vx',
  'ls\ntouch x',
  'ls # a\ntouch x',
  '',
  ' ',
  '\n',
  ';',
  `ls ${'a '.repeat(40_000)}`,
];

describe('under untrusted', () => {
  test.each(SAFE)('runs without a question: %j', script => {
    expect(verdictOn(script)).toBe('run sandboxed');
  });
  test.each(ASKED)('is asked: %j', script => {
    expect(verdictOn(script)).toBe('ask, then run sandboxed');
  });
});

// Deletes by force, in any wrapping that is written out.
const FORCED = [
  ...lines(`
    rm -rf x
    rm -fr x
    rm -f x
    rm -r -f x
    rm x -f
    rm x y -rf
    rm --force x
    rm --forc x
    rm -{r,f} x
    rm -vf x
    /bin/rm -rf x
    ./rm -rf x
    'rm' -rf x
    "rm" "-rf" x
    r\\m -rf x
    \\rm -rf x
    r''m -rf x
    rm -'r'f x
    $'rm' -rf x
    $'\\x72m' -rf x
    $'\\162m' $'-\\u0072f' x
    $"rm" -rf x
    sudo rm -rf x
    sudo -u root rm -rf x
    sudo -n -- rm -rf x
    sudo A=b rm -rf x
    doas rm -rf x
    env rm -rf x
    env A=b rm -rf x
    env -i A=b rm -rf x
    env -u A rm -rf x
    env -S 'rm -rf x'
    env --split-string='rm -rf x'
    A=b rm -rf x
    command rm -rf x
    exec rm -rf x
    nohup rm -rf x
    time rm -rf x
    nice -n 5 rm -rf x
    timeout 5 rm -rf x
    timeout -s KILL 5s rm -rf x
    xargs rm -rf
    ls | xargs -I {} rm -rf {}
    find . -exec rm -rf {} +
    find . -name x -execdir rm -f {} \\;
    bash -c 'rm -rf x'
    bash -lc "rm -rf x"
    bash -c -l 'rm -rf x'
    /bin/sh -c 'rm -rf x'
    sh -ec 'rm -rf x'
    sudo bash -c 'rm -rf x'
    bash -c "sudo sh -c 'rm -rf x'"
    dash -c 'rm -rf x'
    su -c 'rm -rf x'
    eval 'rm -rf x'
    eval rm -rf x
    trap 'rm -rf x' EXIT
    trap -- 'rm -rf x' EXIT
    ls && rm -rf x
    ls || rm -rf x
    ls; rm -rf x
    ls | rm -rf x
    ls & rm -rf x
    ! rm -rf x
    (rm -rf x)
    { rm -rf x; }
    ls $(rm -rf x)
    ls \`rm -rf x\`
    echo "a $(rm -rf x) b"
    cat <(rm -rf x)
    X=$(rm -rf x)
    rm -rf x > /dev/null 2>&1
    rm -rf "$dir"
    rm -rf $(pwd)
    for i in a b; do rm -f $i; done
    while true; do rm -f x; done
    if true; then rm -rf x; fi
    if rm -rf x; then ls; fi
    case a in a) rm -rf x;; esac
    f() { rm -rf x; }; f
    function f { rm -rf x; }
    coproc rm -rf x
    bash <<< 'rm -rf x'
    [ -d x ] && rm -rf x
    [[ -d x ]] && rm -rf x
  `),
  'bash <<EOF\nrm -rf x\nEOF',
  "cat <<'EOF' | rm -rf x\nhello\nEOF",
  'cat <<EOF\n$(rm -rf x)\nEOF',
  'rm \\\n -rf x',
  'r\\\nm -rf x',
  'ls # comment \\\nrm -rf x',
  'ls # comment\\\nrm -rf x',
  'ls\nrm -rf x',
  'set -e\ncd x\n\nrm -rf y',
  // The grammar has no rule for this; what mentions it counts.
  'ls *(x); rm -rf y',
  `: ${'a '.repeat(40_000)}; rm -rf x`,
];

const NOT_FORCED = [
  ...lines(`
    rm x
    rm -r x
    rm -i x
    rm -- -f
    rm -r -- -rf
    rm --verbose x
    echo rm -rf x
    echo 'rm -rf x'
    grep -rn 'rm -rf' .
    git rm -f x
    npm rm -f x
    docker rm -f x
    x=rm; $x -rf y
    $(echo rm) -rf x
    "$RM" -rf x
    form -f x
    rmdir -f x
    git reset --hard
    dd if=/dev/zero of=x
    mkfs /dev/x
    sudo ls
    ls $'a\\tb'
    perform -rf
    echo $'rm' -f
    find . -name rm -type f
  `),
  'cat <<EOF\nrm -rf x\nEOF',
  "python3 - <<'EOF'\nprint('rm -rf x')\nEOF",
];

describe('deleting by force', () => {
  test.each(FORCED)('is seen in %j', script => {
    expect(verdictOn(script, { policy: 'never' })).toBe('refuse');
    expect(verdictOn(script, { policy: 'on-request' })).toBe('ask, then run sandboxed');
  });
  test.each(NOT_FORCED)('is not seen in %j', script => {
    expect(verdictOn(script, { policy: 'never' })).toBe('run sandboxed');
  });
  test('is seen in a command that is not a shell script', () => {
    const action = shell('', { argv: ['rm', '-rf', 'x'] });
    expect(inWords(judge(action, contextOf({ policy: 'never' })))).toBe('refuse');
  });
});

describe('the shell that runs a script', () => {
  const verdict = (argv: string[], userShell?: string) =>
    inWords(judge(shell('', { argv }), contextOf(userShell === undefined ? {} : { userShell })));

  test.each([
    ['bash', '-lc', 'ls'],
    ['bash', '-c', 'ls'],
    ['/bin/sh', '-c', 'ls'],
    ['/usr/bin/zsh', '-lc', 'ls'],
    ['/opt/homebrew/bin/bash', '-lc', 'ls'],
    ['ls', '-la'],
    ['git', 'status'],
    ['/usr/bin/find', '.', '-name', '*'],
  ])('is looked through: %s %s %s', (...argv) => {
    expect(verdict(argv)).toBe('run sandboxed');
  });

  test.each([
    ['/w/bash', '-lc', 'ls'],
    ['./bash', '-lc', 'ls'],
    ['fish', '-c', 'ls'],
    ['dash', '-c', 'ls'],
    ['bash', '-xc', 'ls'],
    ['bash', '-lc', 'ls', 'x'],
    ['bash', 'ls'],
    ['python3', '-c', 'ls'],
    ['pwsh', '-c', 'ls'],
    ['/w/ls'],
    [''],
    [],
  ])('is not trusted: %s %s %s', (...argv) => {
    expect(verdict(argv)).toBe('ask, then run sandboxed');
  });

  test('is trusted where it is the shell of the user', () => {
    expect(verdict(['/home/me/.nix-profile/bin/zsh', '-lc', 'ls'], '/home/me/.nix-profile/bin/zsh')).toBe(
      'run sandboxed',
    );
    expect(verdict(['/home/me/fish', '-c', 'ls'], '/home/me/fish')).toBe('ask, then run sandboxed');
  });
});

describe('loading the grammar', () => {
  const needed = (script: string, policy: 'untrusted' | 'never') => needsGrammar(shell(script), contextOf({ policy }));

  test('is not needed for what is plain by its letters', () => {
    for (const script of ['ls', 'cat a.txt | head -5', 'touch x && npm test', "rg 'a b' src; pwd", 'rm -rf x']) {
      expect([script, needed(script, 'untrusted')]).toEqual([script, false]);
    }
  });

  test('is not needed for any script that names no rm, when every command may run', () => {
    for (const script of ['for i in a; do touch "$i"; done', 'echo $(pwd) > x', 'cat <<EOF\nformat\nEOF', 'npm rm x']) {
      expect([script, needed(script, 'never')]).toEqual([script, false]);
    }
  });

  test('is not needed for a script that is opaque by its letters', () => {
    for (const script of ['echo hi > f', 'ls $(pwd)', 'X=1 ls', 'cat <<EOF\nx\nEOF']) {
      expect([script, needed(script, 'untrusted')]).toEqual([script, false]);
    }
  });

  test('is needed where quoting and blanks could be read differently, and where rm may hide', () => {
    expect(needed('cat foo\\ bar', 'untrusted')).toBe(true);
    expect(needed('ls\nls', 'untrusted')).toBe(true);
    expect(needed('for i in a; do rm -rf "$i"; done', 'never')).toBe(true);
  });

  test('without it, what needs it counts as the worst it may be', () => {
    const without = { grammar: null };
    expect(verdictOn('cat foo\\ bar', without)).toBe('ask, then run sandboxed');
    expect(verdictOn('for i in a; do rm -rf "$i"; done', { ...without, policy: 'never' })).toBe('refuse');
    expect(verdictOn('echo "$(echo rm -rf x)"', { ...without, policy: 'on-request' })).toBe('ask, then run sandboxed');
  });
});
