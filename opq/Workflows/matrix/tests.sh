# The tests: the sum of the first numbers.
sum=0
for number in $(seq "$1"); do sum=$((sum + number)); done
test "$sum" -eq $(($1 * ($1 + 1) / 2))
