package shellrisk

import "strings"

// set makes a table of names.
func set(names string) map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		out[name] = true
	}
	return out
}

var (
	// shells run the text of -c, and their input.
	shells = set("sh bash dash zsh ksh fish")
	// interpreters, beside the shells, run what they are given.
	interpreters = set("python python2 python3 perl ruby node deno bun php pwsh osascript")
	// environment are the variables that change what commands do.
	environment = set("PATH BASH_ENV ENV IFS PROMPT_COMMAND GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF NODE_OPTIONS " +
		"PYTHONSTARTUP PERL5OPT RUBYOPT")

	elevating  = set("sudo doas su pkexec run0 runas")
	privileged = set("chown chgrp setfacl setcap chattr " +
		"mkfs dd fdisk parted mount umount losetup wipefs shred " +
		"pkill killall shutdown reboot halt poweroff init telinit systemctl service launchctl crontab at batch " +
		"modprobe insmod rmmod sysctl iptables nft ufw chroot nsenter unshare " +
		"useradd usermod userdel groupadd passwd chpasswd visudo")
	downloading = set("curl wget fetch aria2c http https xh lynx nc ncat netcat socat")
	networked   = set("curl wget fetch aria2c http https xh lynx ssh scp sftp ftp telnet nc ncat netcat socat nmap ping " +
		"traceroute dig nslookup host whois rclone gh glab docker podman kubectl helm terraform aws gcloud az " +
		"apt apt-get dnf yum pacman apk brew")
	// publishing are the verbs by which package managers send something, or somebody's name, elsewhere.
	publishing = map[string]map[string]bool{
		"npm": set("publish login adduser logout unpublish deprecate owner token"), "pnpm": set("publish login adduser logout"),
		"yarn": set("publish login logout npm"), "bun": set("publish"), "cargo": set("publish login logout owner yank"),
		"twine": set("upload register"), "gem": set("push signin signout yank owner"), "poetry": set("publish"),
		"uv": set("publish"), "flit": set("publish"), "hatch": set("publish"), "hex": set("publish"), "mix": set("hex.publish"),
		"pod": set("trunk"), "vsce": set("publish login"), "nuget": set("push"), "mvn": set("deploy"), "gradle": set("publish"),
		"conda": set("upload"), "composer": set("login"), "pub": set("publish"), "jsr": set("publish"),
	}
	gitNetwork = set("clone fetch pull push ls-remote")

	// patternCommands take a script or pattern first, which is no path; the letters are of options that take a value.
	patternCommands = map[string]string{
		"grep": "ABCmefdD", "egrep": "ABCmefdD", "fgrep": "ABCmefdD", "rg": "ABCmefgtTMjrE", "sed": "efl",
		"awk": "Fvf", "gawk": "Fvfeil", "jq": "fL",
	}
	// writing commands change what their operands name.
	writing = set("cp mv ln install tee touch mkdir rmdir rm truncate chmod sed tar unzip rsync patch git")
	// copying commands change their last operand alone.
	copying = set("cp ln install rsync")
)

// interpreter reports whether a command runs what it is given, whatever version its name has.
func interpreter(name string) bool {
	if shells[name] || interpreters[name] {
		return true
	}
	for _, versioned := range [...]string{"python", "ruby", "perl", "php"} {
		if rest, ok := strings.CutPrefix(name, versioned); ok && strings.Trim(rest, "0123456789.") == "" {
			return true
		}
	}
	return false
}
