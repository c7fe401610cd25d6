package shellrisk

import "strings"

// harmlessNames are the commands that only look, whatever their options.
var harmlessNames = set("cat head wc nl tac rev cut paste tr comm join fold expand column diff cmp stat du df ls pwd basename " +
	"dirname realpath readlink echo true false : seq sleep uname whoami id nproc cksum md5sum sha1sum sha256sum sha512sum " +
	"b2sum od hexdump strings which type grep egrep fgrep jq cd exit set")

// limited are those that only look within limits.
var limited = map[string]func(args []word, o *options) bool{
	"test": inert, "[": inert,
	"tail":   func(_ []word, o *options) bool { return !o.has("fF") && !o.like("follow") },
	"printf": func(args []word, _ *options) bool { return len(args) == 0 || !strings.HasPrefix(args[0].text, "-v") },
	"sort": func(_ []word, o *options) bool {
		return !o.has("oT") && !o.like("output", "compress-program", "temporary-directory")
	},
	"uniq": func(_ []word, o *options) bool { return len(o.operands) <= 1 },
	"tree": func(_ []word, o *options) bool { return !o.has("oR") },
	"date": func(_ []word, o *options) bool { return !o.has("s") && !o.like("set") && onlyFormats(o.operands) },
	"file": func(_ []word, o *options) bool { return !o.has("C") && !o.like("compile") },
	"rg":   func(_ []word, o *options) bool { return !o.has("z") && !o.like("pre", "hostname-bin", "search-zip") },
	"find": func(args []word, _ *options) bool {
		for _, v := range args {
			if changing[v.text] {
				return false
			}
		}
		return true
	},
	"xxd": func(_ []word, o *options) bool { return !o.has("r") && !o.like("revert") && len(o.operands) == 1 },
	"git": readingGit,
	"go": func(args []word, o *options) bool {
		switch {
		case len(args) == 0:
			return false
		case args[0].text == "version":
			return true
		case args[0].text == "env":
			return !strings.Contains(o.short, "w") && !strings.Contains(o.short, "u") && !o.named("w", "u")
		}
		return false
	},
}

// changing are the actions of find that do more than look.
var changing = set("-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls")

// safe reports whether a command, exactly as it is spelled, only looks.
func safe(command string, args []word) bool {
	for _, dir := range [...]string{"/usr/bin/", "/bin/"} {
		if name, ok := strings.CutPrefix(command, dir); ok {
			command = name
			break
		}
	}
	if harmlessNames[command] {
		return true
	}
	within, ok := limited[command]
	if !ok {
		return false
	}
	o := sortOptions(args)
	return within(args, &o)
}

// inert reports whether no word of a test would be evaluated.
func inert(args []word, _ *options) bool {
	for _, v := range args {
		if evaluates(v.text) {
			return false
		}
	}
	return true
}

// onlyFormats reports whether operands of date are formats: another would set the clock.
func onlyFormats(operands []word) bool {
	for _, v := range operands {
		if !strings.HasPrefix(v.text, "+") {
			return false
		}
	}
	return true
}

var (
	gitReading = set("status diff log show rev-parse ls-files blame describe shortlog")
	gitListing = set("branch tag remote")
	gitFlags   = set("-a -r -v -l --list")
)

func readingGit(args []word, _ *options) bool {
	sub, rest, plain := gitCommand(args)
	if !plain {
		return false
	}
	o := sortOptions(rest)
	switch {
	case gitReading[sub]:
		return !o.has("O") && !o.like("ext-diff", "textconv", "output")
	case gitListing[sub]:
		for _, v := range rest {
			if !gitFlags[v.text] {
				return false
			}
		}
		return true
	}
	return false
}
