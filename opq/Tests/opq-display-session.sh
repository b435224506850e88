#!/bin/sh
# Runs the built opq in terminals of tmux, and checks the text of their screens.
# Usage: Tests/opq-display-session.sh [path of opq [folder for the screens]]
set -u
command -v tmux > /dev/null || { echo 'tmux is not installed: the display is not checked'; exit 0; }
. "$(dirname "$0")/terminal.sh"
cat > build.yml << 'END'
operations:
  cc: { each: [main.c, parse.c, print.c, lex.c], run: "case {item} in lex.c) read -r x < gate;; esac" }
  link: { after: cc, run: "read -r x < door; echo linked" }
  test: { after: link, run: "true" }
END
mkfifo gate door

terminal 80 24
keys 'opq run -j 4 build.yml' Enter
check 'a running operation is shown with its time' shows '^  cc\[lex.c\]  [0-9]s'
check 'an operation that waits is shown with the reason' shows '^  link waits for cc (1 left)'
check 'the bar has the numbers' shows '^\[█*░*\] 3/6'
keep build
check 'the time advances without an event' shows '^  cc\[lex.c\]  [2-9]s'
open_gate gate
check 'the successes of a family are one line' shows '^✓ cc (4)  '
check 'the next operation runs' shows '^  link  [0-9]s'
open_gate door
check 'output is shown in one piece' shows '^linked'
check 'the summary is the last line' shows '^6 succeeded in '
check 'no line of the display stays' hides '░'
check 'successes of a family have no lines of their own' hides '^✓ cc\['
keep build-end
keys clear Enter 'opq run -j 4 build.yml' Enter
check 'the time left comes from the earlier run' shows 'about [0-9]*s left'
open_gate gate
open_gate door
check 'the run ends' shows '^6 succeeded in '

# A narrow window, made narrower during the run.
terminal 60 24
keys 'opq run -j 4 build.yml' Enter
check 'the display is there' shows '3/6'
mux resize-window -x 34 -y 24
check 'the display fits into a narrower window' shows '^\[[█░]*\] 3/6'
check 'no line is wider than the window' test "$(wc -L < out)" -le 33
check 'one bar is left' test "$(grep -c '3/6' out)" -eq 1
keep narrow
open_gate gate
open_gate door
check 'the run ends in a narrow window' shows '^6 succeeded'
check 'nothing of the display stays in a narrow window' hides '░'

# Ctrl-Z, fg, and a background job.
terminal 80 24
keys 'opq run -j 4 build.yml' Enter
check 'the display is there before a stop' shows '^  cc\[lex.c\]  '
keys C-z
check 'the shell says that opq is stopped' shows 'Stopped'
keys clear Enter
check 'the screen is clear' hides '3/6'
sleep 0.7
keep stopped
check 'a stopped opq draws nothing' hides '3/6'
keys fg Enter
check 'after fg, the display is drawn again' shows '^\[█*░*\] 3/6'
keep continued
keys C-z
check 'opq is stopped again' shows 'Stopped'
keys clear Enter
check 'the screen is clear again' hides '3/6'
keys bg Enter
sleep 1.2
keep background
check 'a background job draws nothing' hides '3/6'
keys fg Enter
check 'the display comes back' shows '^\[█*░*\] 3/6'
open_gate gate
open_gate door
check 'the run ends after fg' shows '^6 succeeded'

# Five hundred files, and a failure.
cat > files.yml << 'END'
operations:
  pack: { each: { command: "seq -f file-%g.txt 500" }, run: "true" }
  bad: { after: pack, run: "echo reason; exit 3" }
  never: { after: bad, run: "true" }
END
terminal 80 24
keys 'opq run files.yml' Enter
check 'the successes of 500 files are one line' shows '^✓ pack (500)  '
check 'a failure is named at the end, with its output' shows '^failed: bad  exit 3'
check 'the end of the output is shown again' shows '^  | reason'
check 'the summary counts all' shows '^500 succeeded, 1 failed, 1 skipped in '
keep failure

# The C locale, no colors, and a pipe.
terminal 80 24
keys 'export LC_ALL=C NO_COLOR=1; clear; opq run -j 4 build.yml' Enter
check 'the bar is ASCII in the C locale' shows '^\[#*\.*\] 3/6'
keep ascii
open_gate gate
open_gate door
check 'the marks are ASCII in the C locale' shows '^ok cc (4)  '
check 'the run ends in the C locale' shows '^6 succeeded'
terminal 80 24
keys 'opq run files.yml | tail -n 30 > pipe; clear; echo done' Enter
check 'a run into a pipe ends' shows '^done'
check 'a pipe gets a line for each operation, without a display' grep -q '^✓ pack\[file-500.txt\]  ' pipe
check 'a pipe gets no sequences of a terminal' test "$(grep -c "$(printf '\033')" pipe)" -eq 0

echo "$passed passed, $failed failed"
test $failed -eq 0
