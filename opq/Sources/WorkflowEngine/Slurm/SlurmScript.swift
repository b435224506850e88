/// The scripts with which a job runs a command and records its end.
enum SlurmScript {
    /// The script of all jobs. Its arguments are the folder of a batch, the number of tasks that share a job, and the index of the
    /// job unless the job is an array.
    ///
    /// - The folder `claim` is made before the command starts, and only one job can make it. So the command runs at most once,
    ///   also if Slurm or a person starts the job again.
    /// - Output goes through a pipe. With a file, `> /dev/stderr` in the command would discard the earlier output.
    /// - The command leads a session of its own, so its remaining processes can be ended without those of the script.
    /// - A signal ends `wait` early, so it is repeated until no signal has come.
    /// - The file `alive` gets a new time again and again while the script runs. Slurm may start a job a second time after a crash
    ///   of its controller, and then reports the end of the second one.
    /// - The file `stop` ends one command of a job, and the next ones run. A signal to the job also ends the script after the command.
    /// - The result is renamed, so that it is complete when it appears.
    static let runner = """
        #!/bin/sh
        batch=$1 count=$2 job=${3:-$SLURM_ARRAY_TASK_ID}
        unset SLURM_EXPORT_ENV
        now() { date +%s.%N; }
        report() { printf '%s\\n' "$1 $2 $start $(now)" > result.new && mv result.new result; }
        end_group() { kill -s "$2" -- "-$1" 2> /dev/null || kill -s "$2" "$1" 2> /dev/null; }
        await() { while caught=; wait "$1"; status=$?; [ -n "$caught" ]; do :; done; }
        run() {
            cd "$batch/$1" && mkdir claim || return 0
            ran=1
            read -r limit grace < limits
            mkfifo pipe
            cat < pipe > output &
            reader=$!
            start=$(now)
            setsid sh ./task "$batch/$1" > pipe 2>&1 < /dev/null &
            command=$!
            # The signal may have come just before the command.
            [ -z "$stopped" ] || end_group "$command" TERM
            setsid sh -c 'while kill -0 "$1"; do
                : > alive
                [ ! -e stop ] || { kill -s TERM -- "-$2"; sleep "$3"; kill -s KILL -- "-$2"; }
                sleep 5
            done' sh $$ "$command" "$grace" < /dev/null > /dev/null 2>&1 &
            pulse=$!
            timer=
            if [ "$limit" != 0 ]; then
                setsid sh -c 'sleep "$1"; : > late; kill -s TERM -- "-$3"; sleep "$2"; kill -s KILL -- "-$3"' \\
                    sh "$limit" "$grace" "$command" < /dev/null > /dev/null 2>&1 &
                timer=$!
            fi
            await "$command"
            end=$status
            [ -z "$timer" ] || end_group "$timer" KILL
            end_group "$command" TERM
            # A process that has left the session may keep the pipe open.
            setsid sh -c 'sleep 2; kill -s KILL -- "-$1"; sleep 1; kill "$2"' sh "$command" "$reader" \\
                < /dev/null > /dev/null 2>&1 &
            guard=$!
            await "$reader"
            end_group "$guard" KILL
            end_group "$pulse" KILL
            kind=end
            if [ -e no-directory ]; then kind=directory
            elif [ -e late ]; then kind=late
            elif [ "$status" -ne 0 ] && [ "$status" -ne 143 ]; then kind=output
            fi
            report "$kind" "$end"
        }
        caught='' stopped='' ran=''
        trap 'caught=1' USR1 USR2
        trap 'caught=1 stopped=1' TERM INT HUP QUIT XCPU
        index=$((job * count)) last=$((job * count + count))
        while [ "$index" -lt "$last" ] && [ -z "$stopped" ]; do
            run "$index"
            index=$((index + 1))
        done
        [ -n "$ran" ] && [ -z "$stopped" ]

        """

    /// Returns the text of the file `task`, which becomes the command of an operation. Its argument is the folder of the task.
    ///
    /// - Parameters:
    ///   - directory: The absolute path of the working directory.
    ///   - mask: The file mode creation mask of this process.
    static func task(_ operation: PlannedOperation, directory: String, mask: UInt32) -> String {
        var lines = ["umask 0\(String(mask, radix: 8))"]
        for (name, value) in operation.variables.sorted(by: { $0.key < $1.key }) {
            lines.append("export \(name)=\(value.quotedForShell)")
        }
        // Checked before the command. Slurm itself would run a job without its directory elsewhere.
        lines.append("cd -- \(directory.quotedForShell) || { : > \"$1/no-directory\"; exit 1; }")
        lines.append("exec \(operation.arguments.map(\.quotedForShell).joined(separator: " "))")
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the text of the file `limits`: the time limit and the grace in whole seconds. 0 stands for no limit.
    static func limits(_ operation: PlannedOperation, grace: Duration) -> String {
        func seconds(_ time: Duration) -> Int { max(Int((time / .seconds(1)).rounded(.up)), 1) }
        return "\(operation.settings.timeout.map(seconds) ?? 0) \(seconds(grace))\n"
    }
}
