#!/bin/bash
# Runs inside the machine of boot_test.py, as root, once at each of two boots. Writes `ok: …` and `not so: …` lines and at the end `done`.
set -u
export CAIRN_SERVER=https://localhost:8400

expect() { # WHAT COMMAND…: the command must succeed
  local what=$1 seen
  shift
  if seen=$("$@" 2>&1); then echo "ok: $what"; else printf 'not so: %s\n  %s\n' "$what" "$seen"; fi
}
equals() { # WHAT WANTED SEEN
  if [ "$2" = "$3" ]; then echo "ok: $1"; else printf 'not so: %s\n  wanted %s, seen %s\n' "$1" "$2" "$3"; fi
}
property() { systemctl show cairn --value -p "$1"; }
ready() { # repeats refused connections and 503 until the server is ready
  curl -sS -f -o /dev/null --retry 60 --retry-delay 1 --retry-all-errors "$CAIRN_SERVER/readyz" 2>&1 | tail -1
  return "${PIPESTATUS[0]}"
}
give_up() {
  systemctl poweroff
  exit 1
}
status_of() { cairn show "$1" --json | tr -d ' \n' | grep -o '"status":"[a-z]*"' | head -1 | cut -d'"' -f4; }
lines_of_level() { # lines that the server itself wrote
  journalctl -u cairn -o cat _COMM=cairn | grep -E "\"level\":\"($1)\""
}
none() { ! "$@"; }

first_boot() {
  install -m 0755 /payload/cairn /usr/bin/cairn
  cp -r /payload/work /root/work
  cd /root/work || exit 1
  # What the operator's browser would have to do as well: trust the certificate.
  cp certificate.pem /usr/local/share/ca-certificates/test.crt && update-ca-certificates >/dev/null 2>&1

  local command
  while read -r command; do
    bash -c "$command" >>/root/key 2>/root/said </dev/null || { printf 'not so: this command of docs/server.md succeeds: %s\n' "$command"; cat /root/said; give_up; }
    echo "ok: $command"
  done </payload/commands.sh
  CAIRN_TOKEN=$(cat /root/key)
  export CAIRN_TOKEN

  expect "/readyz answers 200" ready
  systemctl -q is-active cairn || { journalctl -u cairn -o cat | tail -20; give_up; }
  equals "the unit is active" active "$(systemctl is-active cairn)"
  equals "the unit is enabled" enabled "$(systemctl is-enabled cairn)"
  local pid
  pid=$(property MainPID)
  equals "it runs as its own user" cairn "$(stat -c %U "/proc/$pid")"
  equals "it has no capability" 0000000000000000 "$(grep CapEff "/proc/$pid/status" | cut -f2)"
  equals "it has a filter of system calls" 2 "$(grep '^Seccomp:' "/proc/$pid/status" | cut -f2)"
  equals "its data files are its own" "cairn 600" "$(stat -c '%U %a' /var/lib/cairn/cairn.db)"
  expect "it is confined by Landlock" journalctl -u cairn -o cat -g '"process.confined".*"landlock":[1-9]'
  expect "systemd calls it well confined" systemd-analyze security --no-pager --threshold=20 cairn.service
  systemd-analyze security --no-pager cairn.service | tail -1

  expect "an instance starts" cairn start hello.yaml --id boot-1 --input '{"name":"Ada"}'
  equals "it waits for a person" waiting "$(status_of boot-1)"
  expect "the service restarts" systemctl restart cairn
  expect "and is ready again" ready
  equals "the instance survives the restart" waiting "$(status_of boot-1)"
  expect "the certificate is read again" systemctl reload cairn
  expect "and it still answers" ready
  equals "nothing was restarted by systemd" 0 "$(property NRestarts)"
  expect "the journal has no warning about the unit" none journalctl -q -u cairn -p warning -o cat -g .
  expect "the server logged no warning and no error" none lines_of_level 'error|warning|warn'

  expect "the process can be killed" systemctl kill -s KILL cairn
  expect "systemd starts it again" ready
  equals "once" 1 "$(property NRestarts)"
  equals "the instance survives a kill" waiting "$(status_of boot-1)"

  local before=$SECONDS
  expect "the service stops" systemctl stop cairn
  local seconds=$((SECONDS - before))
  expect "within the time that the unit allows ($seconds s)" test "$seconds" -le 45
  equals "and its result is clean" "success 0" "$(property Result) $(property ExecMainStatus)"
  equals "the unit is inactive" inactive "$(systemctl is-active cairn)"
  expect "nothing is wrong in the store" setpriv --reuid cairn --regid cairn --clear-groups cairn verify --store sqlite:/var/lib/cairn/cairn.db
  touch /root/was-here
  sync
  systemctl reboot
}

second_boot() {
  CAIRN_TOKEN=$(cat /root/key)
  export CAIRN_TOKEN
  expect "it starts with the machine" ready
  equals "the instance is there" waiting "$(status_of boot-1)"
  local task
  task=$(cairn tasks --json --instance boot-1 | tr -d ' \n' | grep -o '"id":"[^"]*"' | head -1 | cut -d'"' -f4)
  expect "its task is completed" cairn task complete "$task" --payload '{"greeting":"Good morning"}'
  equals "the instance ends" completed "$(status_of boot-1)"
  expect "the server logged no error" none lines_of_level error
  expect "no unit failed" none systemctl -q is-failed cairn
  echo done
  systemctl poweroff
}

if [ -e /root/was-here ]; then second_boot; else first_boot; fi
