"""Which shell texts provably change nothing: what people write every day is known, and nothing hostile passes."""

import pytest

from gates.shell.read_only import provably_read_only, reads_inside

READS = """
ls
ls -la src
ls *.py
pwd
cat README.md
cat *.md
cat -- -strange-name
head -20 a.py
head -n 5 src/*.py
tail -c 100 log.txt
wc -l src/*.py | sort -n | tail -1
grep -rn "def main" src
grep -n 'a\\|b' x.py
grep -n "a\\|b" x.py
grep foo$ x
egrep -c x y
rg -n "TODO|FIXME" --glob '*.py' -A 2
rg --files | head
rg -l foo | xargs grep -n bar
rg -l foo | xargs -n 1 wc -l
git ls-files -z | xargs -0 cat
find . -name '*.py' -not -path './.venv/*' -type f -print0
find src \\( -name a -o -name b \\) -mtime -2
find . -maxdepth 2 -name "*.toml"
find . -name -delete
git status
git status --short --branch
git --no-pager log --oneline -20
git log -n 5 --stat --format='%h %s' -- src
git log -p -S needle
git diff
git diff --stat HEAD~1 -- a.py
git diff main..HEAD --name-only
git show HEAD:README.md
git show --stat
git blame -L 10,20 a.py
git branch -a
git branch --show-current
git remote -v
git remote get-url origin
git rev-parse --show-toplevel
git ls-files
git grep -n needle
git stash list
git stash show
git tag -l
git reflog
git worktree list
git --version
python3 --version
sed -n '1,40p' a.py
sed -n 5p a.py
sed -n '/^def /p' a.py
sed 's/foo/bar/g' a.py
sed -E 's|a/b|c|2' x
awk '{print $1}' a.txt
awk -F: '{print $1, $3}' a.txt
sort -k 2 -rn a.txt
sort -u a | uniq -c
uniq -c a
diff -u a b
jq -r '.a[].b' x.json
tree -L 2
tree -aL 2 -P '*.py' src
git diff -U5 --ignore-submodules
date -u +%F
printf '%s\\n' hello
test -f a && echo yes
command -v python3
which -a python3
type ls
true || false
! grep -q x y
cd src && ls && cat a.py
(cd src; ls)
{ ls; pwd; }
ls 2>/dev/null
ls 2>&1 | head
ls >/dev/null 2>&1
cat < a.txt
time ls
timeout 5 grep -r x .
nice -n 5 du -sh src
LC_ALL=C sort a
bash -c 'ls -l | head'
sh -c "cat a.py"
ls # rm -rf /
file src/a.bin
""".strip().splitlines()

CHANGES = r"""

   # nothing
rm x
touch a
ls; rm x
ls && rm x
ls || rm x
ls | tee out
ls & rm x
ls &
ls
rm x
ls > out
ls >> out
ls >| out
ls &> out
ls > /dev/null out
ls 2> err
ls <> out
ls 3> out
ls > "/dev/null/../x"
cat < /dev/tcp/example.org/80
cat < /etc/passwd
cat <<< x
cat $(rm x)
cat `rm x`
cat "$(rm x)"
cat <(rm x)
ls > >(rm x)
echo ${x:=$(rm x)}
echo $((a[$(rm x)]))
echo $x
ls $FILES
{ls,-la}
cat {a,b}
cat ~/.ssh/id_rsa
$'ls'
$x
"$x" -l
\rm x
'rm' x
r''m x
/bin/rm x
./ls
../ls
/bin/ls
alias ls=rm
alias ls='rm -rf'; ls x
function ls { rm x; }
ls() { rm x; }; ls
ls () ( rm x )
eval "rm x"
eval ls
source x
. x
exec ls
trap 'rm x' EXIT
coproc rm x
command rm x
command -p rm x
builtin eval rm
env
env rm x
env PATH=. ls
env -i ls
env LD_PRELOAD=./x.so ls
timeout 5 env PATH=. ls
printenv
PATH=. ls
LD_PRELOAD=./x.so ls
GIT_EXTERNAL_DIFF=./x git diff
GIT_PAGER=./x git log
LC_ALL=./x ls
IFS=x ls
BASH_ENV=x bash -c ls
bash x.sh
bash -c 'rm x'
bash -c "ls; rm x"
bash -c 'bash -c "bash -c \"bash -c ls\""'
sh -c 'ls > out'
bash -ic ls
bash
xargs rm
ls | xargs rm
ls | xargs -I{} rm {}
ls | xargs sh -c 'rm x'
ls | xargs -a f git
ls | xargs git log
ls | xargs find
ls | xargs env rm
ls | xargs -n 1 -- rm
sudo ls
nohup ls
find . -delete
find . -name a -delete
find . -exec rm {} \;
find . -exec rm '{}' +
find . -execdir rm x \;
find . -ok rm x \;
find . -okdir rm x \;
find . -fprint out
find . -fprint0 out
find . -fprintf out %p
find . -fls out
find * -name x
find . -name *
find . -newerXY x
find -files0-from x
find . -D exec
git
git st
git -c core.pager=./x log
git -c core.fsmonitor=./x status
git -C sub status
git --git-dir=evil status
git --exec-path=. status
git --paginate log
git -p log
cd evil && git status
git commit -m x
git add .
git checkout .
git stash
git stash pop
git stash list; git stash drop
git branch new
git branch -D old
git branch -m a b
git branch --list -D x
git branch --edit-description
git tag v1
git tag -d v1
git remote add a b
git remote -v update
git remote show origin
git fetch
git pull
git push
git config user.name x
git diff --output=out
git diff --outpu=out
git diff -U --output=out
git log -p -U --output=out
git diff --ignore-submodules --output=out
git diff --ext-diff
git log --ext-diff
git show --textconv
git log --output out
git log -o
git log --show-signature
git log --format=%G?
git log --pretty=format:%GG
git for-each-ref --format='%(signature)'
git grep -O x
git grep --open-files-in-pager=./x y
git grep -nOvim x
git reflog expire --all
git reflog delete x
git worktree add x
git worktree
git cat-file --textconv HEAD:x
git cat-file --filters HEAD:x
git blame --contents
git rev-parse --parseopt
git archive -o x HEAD
git format-patch HEAD
git bundle create x HEAD
git gc
git help log
git ls-remote
git submodule foreach rm
git difftool
git bisect run x
git s*
rg --pre ./x foo
rg --pre=./x foo
rg --hostname-bin ./x foo
rg -z foo
rg --search-zip foo
rg foo *
rg -f pats
sort -o out a
sort -oout a
sort --output=out a
sort --out=out a
sort --compress-program=./x a
sort -T . a
sort *
sort -no out a
uniq a out
uniq *
uniq a*
sed -i s/a/b/ x
sed -n -i 5p x
sed --in-place s/a/b/ x
sed -ni 5p x
sed 'w out' x
sed -n '1w out' x
sed 's/a/b/w out' x
sed 's/a/b/e' x
sed '1e rm x' x
sed 'e' x
sed -n '5p;w out' x
sed -n 5p -e 'w out' x
sed -f script x
sed '1r /etc/passwd' x
sed s/* x
sed "$x" f
awk 'BEGIN { system("rm x") }'
awk '{print > "out"}' x
awk '{print | "sh"}' x
awk 'BEGIN { "rm x" | getline }'
awk '@load "filefuncs"'
awk 'BEGIN { f = "system"; @f("rm x") }'
awk 'BEGIN { print ENVIRON["HOME"] }'
awk -f x.awk
awk 'BEGIN { ARGV[1] = "/etc/passwd"; ARGC = 2 } { print }'
awk -i inplace 1 x
awk '1' -f x
awk $x f
awk 1* x
gawk 1 x
jq env x
jq '$ENV.HOME' x
jq -f prog x
jq -n 'import "../secret" as $s; $s'
jq -n 'include "../secret"; .'
test -v 'a[$(rm x)]'
test 'a[$(rm x)]' -eq 0
[[ a[$(rm x)] -eq 0 ]]
printf -v 'a[$(rm x)]' x
printf '%n' 'a[$(rm x)]'
printf '%b' x
printf '%(%s)T'
printf "$x"
let 'a[$(rm x)]=1'
declare -a x
read x
mapfile x
tee x
less x
more x
man ls
vi x
curl http://example.org
wget http://example.org
python3 x.py
python3 -c 1
python3 --version x
node -e 1
npm test
make
make -n
pip list
dd if=a of=b
cp a b
mv a b
ln -s a b
mkdir a
chmod +x a
kill 1
tar xf a
file -C
date -s tomorrow
date 01010101
date -f x
hostname evil
tree -o out
tree -Po x out
tree -Io x out
tree -L1o out
tree -aLo 2 out
tree -R -H . -L 1
fd -x rm
fd -X rm
fd --exec rm
fd -l
xxd -ps in out
ps eww
strings @x
diff -l a b
ls -l$'\n'rm
for f in a; do ls; done
if true; then rm x; fi
while true; do ls; done
case x in x) ls;; esac
ls \
; rm x
ls \; rm x; rm y
cat a'b
ls "
ls )
"""
HOSTILE = [line for line in CHANGES.splitlines() if line not in ("ls", "ls ; rm x")]
MORE = [
    "ls\nrm x",
    "ls \\\n; rm x",
    "ls\r\nrm x",
    "ls\u00a0; rm x",
    "ls \x00",
    "cat <<EOF\n$(rm x)\nEOF",
    "cat <<EOF > out\nx\nEOF",
    "ls " + "a" * 30_000,
    "sed -n '1p\nw out' x",
    "sed 's/a/b/\nw out' x",
    "awk '{print}\n{system(\"x\")}' f",
]


@pytest.mark.parametrize("command", READS)
def test_what_only_reads_is_known(command):
    assert provably_read_only(command)


@pytest.mark.parametrize("command", [*dict.fromkeys(HOSTILE), *MORE])
def test_what_may_change_something_is_never_taken_for_reading(command):
    assert not provably_read_only(command)


@pytest.mark.parametrize(
    ("command", "inside"),
    [
        ("cat a.py | head", True),
        ("git log main..HEAD", True),
        ("git diff HEAD -- src/a.py", True),
        ("ls 2>/dev/null", True),
        ("cat /etc/passwd", False),
        ("cat ../other/secret", False),
        ("cat src/../../secret", False),
        ("ls ..", False),
        ("grep -f/etc/passwd x", False),
        ("grep -rf/etc/passwd x", False),
        ("grep --file=/etc/passwd x", False),
        ("grep --file=../x y", False),
        ("cd && cat .ssh/id_rsa", False),
        ("cd / && cat etc/passwd", False),
        ("git diff --no-index a /etc/passwd", False),
        ("bash -c 'cat /etc/passwd'", False),
        ("printf '\\57etc\\57passwd' | xargs cat", False),
        ("find . -print0 | xargs -0 cat", False),
        ("rm x", False),
    ],
)
def test_what_reads_elsewhere_is_told_apart(command, inside):
    assert reads_inside(command) is inside
