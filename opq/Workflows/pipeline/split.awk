BEGIN { FS = "," }
{ print $2 "," $3 > ("months/" $1 ".csv") }
