# Functions of the session scripts. A script sources this file in its working folder. $passed and $failed count the checks.
passed=0 failed=0
# Marks are ASCII in the C locale.
export LC_ALL=C.UTF-8

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

# status EXPECTED ARGUMENT...: opq with these arguments must exit with the status EXPECTED.
status() {
    expected=$1
    shift
    timeout 60 "$opq" "$@" > out 2> err
    actual=$?
    check "opq $* exits with $expected, not $actual" test "$actual" -eq "$expected"
}
