# What the sessions with opq share. Sourced in the folder where they work; counts in $passed and $failed.
passed=0 failed=0

# check NAME COMMAND...: the command must succeed.
check() {
    name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $name"
        sed 's/^/    /' out err
    fi
}

# status EXPECTED ARGUMENT...: opq with these arguments must exit so.
status() {
    expected=$1
    shift
    timeout 60 "$opq" "$@" > out 2> err
    actual=$?
    check "opq $* exits with $expected, not $actual" test "$actual" -eq "$expected"
}
