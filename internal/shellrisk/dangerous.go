package shellrisk

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// dangerous looks a command up in the tables of what may do harm. name is in lower case.
func (j *judge) dangerous(at *site, name string, args []word) {
	s := at.stmt
	o := sortOptions(args)
	if downloading[name] {
		j.traits |= downloads
	}
	switch {
	case elevating[name]:
		j.forbid("runs with more rights", s)
	case name == "dd":
		j.copyDevice(s, args)
	case privileged[name], strings.HasPrefix(name, "mkfs."):
		j.privileged("changes the system", s)
	case networked[name]:
		j.network("reaches other machines", s)
	}
	switch name {
	case "rm":
		if o.has("rR") || o.like("recursive") {
			j.removal(s, o.operands)
		}
	case "chmod":
		j.permissions(s, args)
	case "kill":
		if kills(args) {
			j.privileged("kills processes", s)
		}
	case "git":
		j.git(s, args)
	case "rsync":
		for _, v := range o.operands {
			host, _, remote := strings.Cut(v.text, ":")
			if remote && !strings.Contains(host, "/") || strings.HasPrefix(v.text, "rsync://") {
				j.network("reaches other machines", s)
			}
		}
	case "set", "export", "readonly", "typeset", "declare", "local":
		for _, v := range o.operands {
			if variable, _, ok := strings.Cut(v.text, "="); ok && name != "set" {
				j.variable(variable, s)
			}
		}
	}
	if verbs := publishing[name]; verbs != nil && len(o.operands) > 0 && verbs[o.operands[0].text] {
		j.network("publishes, or signs in, elsewhere", s)
	}
	if writing[name] {
		j.guardedWrite(s, name, args, o)
	}
}

// guardedWrite judges the targets of a writing command.
func (j *judge) guardedWrite(s *syntax.Stmt, name string, args []word, o options) {
	switch {
	case name == "sed" && !o.has("i") && !o.like("in-place"):
		return
	case name == "git":
		for i, v := range args {
			if v.text == "-C" && i+1 < len(args) {
				j.guardedOperands(s, args[i+1:i+2])
			}
		}
		return
	case copying[name] && len(o.operands) > 0:
		targets := o.operands[len(o.operands)-1:]
		for i, v := range args {
			switch {
			case v.text == "-t" && i+1 < len(args), v.text == "--target-directory" && i+1 < len(args):
				targets = append(targets[:len(targets):len(targets)], args[i+1])
			case strings.HasPrefix(v.text, "--target-directory="):
				v.text = v.text[len("--target-directory="):]
				targets = append(targets[:len(targets):len(targets)], v)
			case strings.HasPrefix(v.text, "-t") && len(v.text) > 2:
				v.text = v.text[2:]
				targets = append(targets[:len(targets):len(targets)], v)
			}
		}
		j.guardedOperands(s, targets)
		return
	}
	j.guardedOperands(s, args)
}

// copyDevice judges dd.
func (j *judge) copyDevice(s *syntax.Stmt, args []word) {
	j.privileged("copies devices", s)
	for _, v := range args {
		if name, ok := strings.CutPrefix(v.text, "of=/dev/"); ok {
			switch {
			case name == "null", name == "stdout", name == "stderr", name == "tty", strings.HasPrefix(name, "fd/"),
				strings.HasPrefix(name, "tcp/"), strings.HasPrefix(name, "udp/"):
			default:
				j.forbid("writes to a device", s)
			}
		}
	}
}

// permissions judges chmod by its mode.
func (j *judge) permissions(s *syntax.Stmt, args []word) {
	for _, v := range args {
		if strings.HasPrefix(v.text, "--") {
			continue
		}
		for part := range strings.SplitSeq(v.text, ",") {
			if openMode(part) {
				j.privileged("opens permissions", s)
				return
			}
		}
	}
}

// openMode reports whether a mode lets others write, or sets a set-user or set-group bit.
func openMode(mode string) bool {
	digits := strings.TrimLeft(mode, "+-=")
	if digits != "" && strings.Trim(digits, "01234567") == "" {
		if strings.HasPrefix(mode, "-") {
			return false
		}
		special := len(digits) >= 4 && (digits[len(digits)-4]-'0')&6 != 0
		return special || (digits[len(digits)-1]-'0')&2 != 0
	}
	who := mode[:len(mode)-len(strings.TrimLeft(mode, "ugoa"))]
	others := strings.ContainsAny(who, "oa")
	for rest := mode[len(who):]; rest != ""; {
		op := rest[0]
		if op != '+' && op != '-' && op != '=' {
			return false
		}
		n := 1
		for n < len(rest) && strings.IndexByte("rwxXstugo", rest[n]) >= 0 {
			n++
		}
		granted := rest[1:n]
		if op != '-' && (strings.Contains(granted, "s") || others && strings.ContainsAny(granted, "wug")) {
			return true
		}
		rest = rest[n:]
	}
	return false
}

// kills reports whether a kill sends signal 9.
func kills(args []word) bool {
	for i, v := range args {
		text := strings.ToUpper(v.text)
		var name string
		switch {
		case (text == "-S" || text == "-N" || text == "--SIGNAL") && i+1 < len(args):
			name = strings.ToUpper(args[i+1].text)
		case strings.HasPrefix(text, "--SIGNAL="):
			name = text[len("--SIGNAL="):]
		case strings.HasPrefix(text, "-S"), strings.HasPrefix(text, "-N"):
			if name = text[2:]; strings.HasPrefix(text, "-SIG") {
				name = text[1:]
			}
		case strings.HasPrefix(text, "-"):
			name = text[1:]
		}
		if name = strings.TrimLeft(strings.TrimPrefix(name, "SIG"), "0"); name == "9" || name == "KILL" {
			return true
		}
	}
	return false
}

// git judges a git command by its sub-command.
func (j *judge) git(s *syntax.Stmt, args []word) {
	sub, rest, _ := gitCommand(args)
	o := sortOptions(rest)
	first := ""
	if len(o.operands) > 0 {
		first = o.operands[0].text
	}
	switch {
	case gitNetwork[sub], sub == "submodule" && first == "update", sub == "remote" && first == "update":
		j.network("reaches other machines", s)
	case sub == "filter-branch", sub == "filter-repo", sub == "reflog" && first == "expire", sub == "update-ref" && o.has("d"):
		j.privileged("changes the history", s)
	}
	if sub != "push" {
		return
	}
	forced := o.has("f") || o.named("force")
	rewrites := o.named("mirror", "delete", "force-with-lease") || o.has("d") || o.like("mirror", "delete")
	for _, v := range o.operands {
		forced = forced || strings.HasPrefix(v.text, "+")
		rewrites = rewrites || strings.HasPrefix(v.text, ":")
	}
	switch {
	case forced:
		j.forbid("forced push", s)
	case rewrites:
		j.privileged("changes the history elsewhere", s)
	}
}

// gitCommand finds the sub-command behind the global options. plain is true when there are none of these but --no-pager.
func gitCommand(args []word) (sub string, rest []word, plain bool) {
	plain = true
	for i := 0; i < len(args); i++ {
		text := args[i].text
		if text == "" || text[0] != '-' {
			return text, args[i+1:], plain && args[i].static
		}
		if text == "--no-pager" {
			continue
		}
		plain = false
		switch text {
		case "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source", "--exec-path":
			if text != "--exec-path" {
				i++
			}
		}
	}
	return "", nil, false
}
