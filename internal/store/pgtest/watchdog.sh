# Runs one PostgreSQL server for as long as standard input stays open.
#
# Arguments: the folder of PostgreSQL's programs, the folder for temporary
# folders, then lines for postgresql.conf. It first makes the server's folder
# and prints its name, then obeys the lines "start PORT" and "stop MODE". Each
# of these steps is answered with "ok" or, after what there is to say about it,
# with "failed". At the end of input nothing of the server is left.

bin=$1
temp=$2
shift 2

# The watchdog must see the end of input, whatever else is done to the group
# of processes that it belongs to, and whether or not anybody reads its answers.
trap '' HUP INT PIPE TERM

# The lines that PostgreSQL's programs write go to the log and are shown only
# when a step fails.
answer() {
	if [ "$1" -eq 0 ]; then
		echo ok
	else
		tail -n 20 "$dir/log"
		echo failed
	fi
}

create() {
	"$bin/initdb" --pgdata="$dir/data" --username=postgres --auth=trust \
		--encoding=UTF8 --no-locale --no-sync &&
		printf '%s\n' "$@" >>"$dir/data/postgresql.conf"
}

if ! dir=$(mktemp -d "$temp/pgtest-XXXXXX"); then
	echo failed
	exit 1
fi
cd "$dir" || exit 1
echo "$dir"
create "$@" >>"$dir/log" 2>&1
answer $?

while read -r verb argument; do
	case $verb in
	start)
		"$bin/pg_ctl" start --pgdata="$dir/data" --log="$dir/log" \
			--options="-p $argument" --wait --timeout=120 --silent
		;;
	stop)
		"$bin/pg_ctl" stop --pgdata="$dir/data" --mode="$argument" \
			--wait --timeout=120 --silent
		;;
	esac >>"$dir/log" 2>&1 </dev/null
	answer $?
done

# A server that does not run cannot be stopped, which is as well.
"$bin/pg_ctl" stop --pgdata="$dir/data" --mode=immediate \
	--wait --timeout=120 --silent >/dev/null 2>&1
cd /
rm -rf "$dir"
