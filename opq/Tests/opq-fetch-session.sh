#!/bin/sh
# Runs `fetch` of the built opq against nginx on a free port of the loopback interface. Asserts on exit statuses, output and
# the files in the folder, also when opq is interrupted, killed, and run again.
# Usage: Tests/opq-fetch-session.sh [path of opq]
set -u
PATH=$PATH:/usr/sbin
opq=$(realpath "${1:-.build/debug/opq}")
shared=$(realpath "$(dirname "$0")/session.sh")
work=$(mktemp -d)
cd "$work" || exit 1
mkdir www
trap 'kill "$(cat nginx.pid 2> /dev/null)" 2> /dev/null; rm -rf "$work"' EXIT
. "$shared"

# fetch EXPECTED ARGUMENT...: runs opq fetch, which must exit with the status EXPECTED.
fetch() {
    expected=$1
    shift
    status "$expected" fetch "$@"
}

digest() { sha256sum "$1" | cut -c1-64; }

# --- The server ------------------------------------------------------------------------------------------------------

serve() {
    cat > nginx.conf << END
daemon off;
user root;
worker_processes 1;
error_log $work/error.log;
pid $work/nginx.pid;
events { worker_connections 256; }
http {
    access_log $work/access.log;
    types { text/html html; }
    default_type application/octet-stream;
    client_body_temp_path $work/t1; proxy_temp_path $work/t2; fastcgi_temp_path $work/t3;
    uwsgi_temp_path $work/t4; scgi_temp_path $work/t5;
    server {
        listen 127.0.0.1:$1;
        root $work/www;
        location /slow/ { alias $work/www/; limit_rate 2m; }
        location /moved { return 302 /one; }
    }
}
END
    [ "$(id -u)" -eq 0 ] || sed -i '/^user /d' nginx.conf
    nginx -c "$work/nginx.conf" 2> nginx.err &
    tries=0
    until [ -s nginx.pid ] && (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null || curl -s -o /dev/null "http://127.0.0.1:$1/"; do
        tries=$((tries + 1))
        [ "$tries" -lt 50 ] || return 1
        kill -0 $! 2> /dev/null || return 1
        sleep 0.1
    done
}

for port in 28431 28571 28693 28817; do
    if serve "$port"; then break; fi
    port=
done
[ -n "$port" ] || { echo 'nginx does not start'; cat nginx.err; exit 1; }
base=http://127.0.0.1:$port

head -c 100000 /dev/urandom > www/one
head -c 200000 /dev/urandom > www/two
head -c 12000000 /dev/urandom > www/big
echo '<p><IMG src="one"><!-- <img src="none"> --><img alt="" src=/two><img src="one">' > www/page.html

# --- Downloads -------------------------------------------------------------------------------------------------------

printf '# comment\n\n%s/one sha256:%s\n%s/two other\n%s/two\n%s/moved\n' "$base" "$(digest www/one)" "$base" "$base" "$base" > list
fetch 0 list -o a
check 'the file equals the served file' cmp -s www/one a/one
check 'the file has the given name' cmp -s www/two a/other
check 'a repeated address is copied' cmp -s www/two a/two
check 'a repeated address is loaded once' test "$(grep -c 'GET /two' access.log)" -eq 1
check 'redirects are followed' cmp -s www/one a/moved
check 'the summary contains the counts' grep -q '^3 downloaded (.*), 1 copied in ' out
check 'no partial file remains' test -z "$(ls -A a | grep part)"
fetch 0 list -o a
check 'existing files are kept' grep -q '^0 downloaded (0 B), 4 kept' out
echo damaged > a/one
fetch 0 list -o a
check 'a file with another digest is replaced' cmp -s www/one a/one
check 'the replacement is reported' grep -q '^downloaded  one .*, replaced a file with another digest' out
fetch 0 "$base/page.html" -o b
check 'each image of a page is loaded once' test "$(ls b | tr '\n' ' ')" = 'one two '
echo '<img src="/.bash_login"><img src=".hidden/..x">' > www/evil.html
mkdir -p www/.hidden
cp www/one www/.bash_login
cp www/two www/.hidden/..x
fetch 0 "$base/evil.html" -o i
check 'a page creates no hidden files' test "$(ls -A i | tr '\n' ' ')" = 'bash_login x '

# The same address with several digests.
right=$(digest www/one)
printf '%s/one a\n%s/one b sha256:%064d\n%s/one c sha256:%s\n%s/one d sha256:%s\n' \
    "$base" "$base" 0 "$base" "$right" "$base" "$right" > digests
fetch 1 digests -o j
check 'each digest is checked' test "$(ls -A j | tr '\n' ' ')" = 'a c d '
check 'the wrong digest is reported' grep -q '^failed *b .* has the wrong SHA-256' out
check 'an item with an equal digest is copied' grep -q '1 copied' out
echo damaged > j/d
fetch 1 digests -o j
check 'a damaged copy is replaced' cmp -s www/one j/d
check 'the replacement of a copy is reported' grep -q '^copied  *d, replaced a file with another digest' out
fetch 0 - -o c --quiet < list
check 'quiet mode prints nothing' test ! -s out

# --- Interruptions ---------------------------------------------------------------------------------------------------
# A shell that is not interactive ignores SIGINT in its background jobs, and opq keeps an ignored signal ignored.

printf '%s/slow/big sha256:%s\n' "$base" "$(digest www/big)" > slow
for signal in INT KILL; do
    rm -rf d
    env --default-signal=INT "$opq" fetch slow -o d > out 2> err &
    fetching=$!
    tries=0
    until [ "$(stat -c %s d/.big.part 2> /dev/null || echo 0)" -gt 1000000 ] || [ "$tries" -gt 300 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    kill -"$signal" $fetching
    wait $fetching 2> /dev/null
    status=$?
    [ "$signal" = KILL ] || check "an interrupted fetch exits with 130, not $status" test "$status" -eq 130
    check 'no file has the final name' test ! -e d/big
    part=$(stat -c %s d/.big.part)
    fetch 0 slow -o d
    check 'the same command continues the download' cmp -s www/big d/big
    check 'the second request asks for the rest only' grep -q "GET /slow/big HTTP/1.1\" 206 $((12000000 - part)) " access.log
done
rm -rf d
mkdir d
head -c 1000000 www/big > d/.big.part
echo '{"url":"'"$base"'/slow/big","point":{"received":1,"validator":{"entityTag":{"_0":"\"other\""}}}}' > d/.big.part.json
fetch 0 slow -o d
check 'a file that changed on the server starts over' cmp -s www/big d/big

# --- Bad input -------------------------------------------------------------------------------------------------------

printf '%s/none\n%s/one sha256:%064d\n%s/two\n' "$base" "$base" 0 "$base" > bad
fetch 1 bad -o e
check 'an error status is reported' grep -q '^failed *none .* answered with status 404' out
check 'a wrong digest is reported' grep -q '^failed *one .* has the wrong SHA-256' out
check 'the other files are fetched' cmp -s www/two e/two
check 'no other file remains' test "$(ls e)" = two
for line in 'ftp://x/' "$base/one ../x" "$base/one /x" "$base/one sha256:1" "$base/one a b"; do
    echo "$line" > wrong
    fetch 2 wrong -o f
    check "the message names the line: $line" grep -q '^opq: wrong: line 1: ' err
done
printf 'ftp://x/\n%s/one\nnonsense\n' "$base" > wrong
fetch 2 wrong -o f
check 'each wrong line is reported' test "$(grep -c '^opq: wrong: line [13]: ' err)" -eq 2
mkdir -p k/one
echo "$base/one" > single
fetch 1 single -o k
check 'a folder in the place of a file is reported' grep -q "^failed *one .*exists and is not a file" out
echo x > plain
fetch 2 single -o plain/folder
check 'a folder that cannot be created is reported' grep -q "^opq: --output: cannot create the folder 'plain/folder': Not a directory" err
fetch 2 single -o plain
check 'a file in the place of the folder is reported' grep -q "^opq: --output: cannot create the folder 'plain': Not a directory" err
printf '%s/one\n%s/slow/big\n' "$base" "$base" > many
timeout 60 "$opq" fetch many -o m --jobs 1 > /dev/full 2> err
check 'a fetch whose output cannot be written fails' test $? -eq 1
check 'a fetch whose output cannot be written stops' test "$(ls m)" = one
fetch 2 no-such-list
fetch 2 list --jobs 0
fetch 2 list --retries -1
fetch 2 list --no-such-option
fetch 1 "$base/none.html" -o g
check 'a missing page is reported' grep -q 'answered with status 404' err
kill "$(cat nginx.pid)"
echo "$base/one" > alone
sleep 0.2
fetch 1 alone -o h --retries 0
check 'a missing server is reported' grep -q 'the connection failed' out

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
