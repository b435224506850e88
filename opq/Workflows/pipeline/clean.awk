# Adds up the amounts of a month. A line without an amount is an error in the data.
BEGIN { FS = "," }
$2 == "" { print FILENAME ": line " FNR " has no amount" > "/dev/stderr"; exit 1 }
{ sum += $2 }
END { print FILENAME "," sum }
