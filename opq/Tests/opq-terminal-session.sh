#!/bin/sh
# Runs the built opq in terminals of tmux, with operations that own the terminal: keys, signals, stops and the display.
# Usage: Tests/opq-terminal-session.sh [path of opq [folder for the screens]]
set -u
command -v tmux > /dev/null || { echo 'tmux is not installed: operations with a terminal are not checked'; exit 0; }
. "$(dirname "$0")/terminal.sh"
cat > ask.yml << 'END'
operations:
  ask: { terminal: true, capture: NAME, run: 'printf "name? " >&2; read -r name; echo "$name"' }
  greet: { after: ask, run: 'echo "hello $NAME"' }
  beside: { run: "sleep 1; : > drawn; read -r _ < gate; echo from beside" }
END
cat > guard.yml << 'END'
operations:
  first: { terminal: true, run: "echo first has it; read -r _; stty -echo; kill -KILL $$" }
  second: { terminal: true, after: first, when: always, run: "echo second has it; read -r answer; echo got $answer" }
END
cat > keys.yml << 'END'
operations:
  handles: { terminal: true, run: "trap 'echo; echo handled' INT; echo ready; read -r _; read -r _; echo read on" }
  dies: { terminal: true, after: handles, retries: 3, run: "echo waits; sleep 1000" }
  never: { after: dies, when: always, run: "echo never" }
END
mkfifo gate

terminal 80 24
keys 'opq run -j 4 ask.yml' Enter
check 'the operation has the terminal' shows '^name?$'
check 'its name is shown' shows '^› ask$'
# Without the pause, the display would have drawn itself by now.
await test -e drawn
check 'the display pauses' hides '░'
open_gate gate
check 'the other operation ends' await runs_one ask.yml
keys 'an'
check 'the terminal has its echo' shows '^name? an$'
check 'the output of another operation waits' hides 'from beside'
keep asks
keys 'n' Enter
check 'the answer is a variable' shows '^hello ann'
check 'the output of the other operation follows' shows '^from beside'
check 'the run ends' shows '^3 succeeded in '
keep asked

# Ctrl-Z stops opq and the command. After fg, the command has the terminal again.
terminal 80 24
keys 'opq run -j 4 ask.yml' Enter
check 'the operation has the terminal before a stop' shows '^name?$'
keys C-z
check 'Ctrl-Z stops opq too' shows 'Stopped'
prompts
keys 'echo the shell has it' Enter
check 'the shell has the terminal' shows '^the shell has it'
keep stopped
keys fg Enter
check 'the command is in the foreground again' await in_front ask.yml
keys 'bob' Enter
open_gate gate
check 'the command reads the terminal after fg' shows '^hello bob'
check 'the run ends after fg' shows '^3 succeeded in '
# In the background, a command that reads the terminal is stopped, and opq with it.
keys clear Enter
keys 'opq run -j 4 ask.yml &' Enter
check 'a background job starts its command' shows '^name?'
check 'opq stops with a background job that reads' await is_stopped ask.yml
keys Enter
check 'a background job that reads is stopped' shows 'Stopped'
keys fg Enter
check 'the command of the job is in the foreground' await in_front ask.yml
keys 'eve' Enter
open_gate gate
check 'the command reads the terminal in the foreground' shows '^hello eve'
check 'the run ends in the foreground' shows '^3 succeeded in '

# A command that is killed leaves the terminal as it was, and the next one gets it.
terminal 80 24
keys 'opq run guard.yml' Enter
check 'one operation has the terminal' shows '^first has it'
hides 'second has it'
check 'no other operation has it' test $? -eq 0
keys Enter
check 'the next operation gets the terminal' shows '^second has it'
keys 'seen' Enter
check 'the terminal has echo again' shows '^seen'
check 'the second command reads' shows '^got seen'
check 'the run ends with the failure' shows '^1 succeeded, 1 failed in '

# Ctrl-C reaches the command only. If it ends the command, it ends the run.
terminal 80 24
keys 'opq run keys.yml' Enter
check 'the command is ready' shows '^ready'
keys C-c
check 'a command may handle Ctrl-C' shows '^handled'
keys Enter
keys Enter
check 'the command goes on' shows '^read on'
check 'the next command waits' shows '^waits'
keys C-c
check 'the run is cancelled' shows '2 cancelled in '
prompts
keys 'echo "status $?"' Enter
check 'a command that Ctrl-C ends, ends the run' shows '^status 130'
check 'nothing runs again or after it' hides '^never'
keep interrupted
keys clear Enter
keys 'opq run --only dies keys.yml' Enter
check 'a command with the terminal runs' shows '^waits'
kill -TERM "$(cat .opq/keys.yml/lock)"
check 'SIGTERM of opq ends the command' shows '^0 succeeded, 1 cancelled'

echo "$passed passed, $failed failed"
test $failed -eq 0
