package childproc

import (
	"bytes"
	"os"
	"slices"
	"strconv"
)

// running reports whether a process of the group is more than a zombie. One that nobody waits for, as under a first process
// that doesn't, stays in the group for ever. A group of which nothing can be seen is taken for running.
func running(leader int) bool {
	zombies, left := 0, 0
	eachSince(leader, func(pid int) bool {
		state, pgrp, ok := stat(pid)
		switch {
		case !ok || pgrp != leader:
		case state == 'Z' || state == 'X':
			zombies++
		default:
			left++
		}
		return left == 0
	})
	return left > 0 || zombies == 0
}

// marked lists the processes outside the group that have the marker in their environment.
func marked(marker string, g *group) []int {
	var pids []int
	eachSince(g.leader, func(pid int) bool {
		env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err != nil || !hasVariable(env, marker) {
			return true
		}
		if state, pgrp, ok := stat(pid); ok && pgrp != g.leader && state != 'Z' && state != 'X' {
			pids = append(pids, pid)
		}
		return true
	})
	slices.Sort(pids)
	return pids
}

func hasVariable(env []byte, marker string) bool {
	for variable := range bytes.SplitSeq(env, []byte{0}) {
		if string(variable) == marker {
			return true
		}
	}
	return false
}

// eachSince calls fn with the number of each process that was started after first, and of first itself, until it returns
// false. Numbers only grow, until they start anew: then all processes are looked at.
func eachSince(first int, fn func(pid int) bool) {
	dir, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return
	}
	if newest() < first {
		first = 0
	}
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid >= first && !fn(pid) {
			return
		}
	}
}

// newest is the number that was given to a process last, or 0 when that can't be seen.
func newest() int {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(data)
	if len(fields) == 0 {
		return 0
	}
	pid, err := strconv.Atoi(string(fields[len(fields)-1]))
	if err != nil {
		return 0
	}
	return pid
}

// stat reads the state and the group of a process.
func stat(pid int) (state byte, pgrp int, ok bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, false
	}
	// The name of the program is in brackets and may hold anything; the fields that follow it don't.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 3 || len(fields[0]) == 0 {
		return 0, 0, false
	}
	pgrp, err = strconv.Atoi(string(fields[2]))
	return fields[0][0], pgrp, err == nil
}
