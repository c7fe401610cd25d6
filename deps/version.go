package deps

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrVersion is matched by every error of [ParseVersion] and [ParseHostVersion].
var ErrVersion = errors.New("deps: not a version of three numbers")

// Version is the version of a plugin or of a host. The zero value is 0.0.0. Versions are compared with == for equality
// and with [Version.Compare] for order.
type Version struct{ major, minor, patch int32 }

// Line is a compatibility line: versions of one line replace each other when they rise. The minor number counts only
// while the major number is 0. Lines are compared with ==.
type Line struct{ major, minor int32 }

// ParseVersion reads a version of the form N.N.N. Each N is 0 or a decimal number without leading zero, at most
// 2147483647. There is no prefix, no suffix, no range and no blank. Every error matches [ErrVersion].
func ParseVersion(s string) (Version, error) {
	var n [3]int32
	rest := s
	for i := range n {
		part, more, found := strings.Cut(rest, ".")
		if found != (i < len(n)-1) {
			return Version{}, fmt.Errorf("%w: %q", ErrVersion, s)
		}
		v, ok := parseNumber(part)
		if !ok {
			return Version{}, fmt.Errorf("%w: %q", ErrVersion, s)
		}
		n[i], rest = v, more
	}
	return Version{n[0], n[1], n[2]}, nil
}

// ParseHostVersion reads the version of a host: a pre-release suffix and build metadata are cut off first, so that
// 1.4.0-rc.1+b5 counts as 1.4.0. Every error matches [ErrVersion].
func ParseHostVersion(s string) (Version, error) {
	if i := strings.IndexAny(s, "-+"); i >= 0 {
		s = s[:i]
	}
	return ParseVersion(s)
}

// parseNumber reads one component. strconv alone would take signs, leading zeros and underscores.
func parseNumber(s string) (int32, bool) {
	if s == "" || (len(s) > 1 && s[0] == '0') {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 32)
	return int32(n), err == nil
}

// String returns the version in the form that [ParseVersion] reads.
func (v Version) String() string {
	return strconv.Itoa(int(v.major)) + "." + strconv.Itoa(int(v.minor)) + "." + strconv.Itoa(int(v.patch))
}

// Compare returns -1, 0 or 1 when v is below, equal to or above o.
func (v Version) Compare(o Version) int {
	return cmp.Or(cmp.Compare(v.major, o.major), cmp.Compare(v.minor, o.minor), cmp.Compare(v.patch, o.patch))
}

// Line returns the compatibility line of v.
func (v Version) Line() Line {
	if v.major > 0 {
		return Line{major: v.major}
	}
	return Line{minor: v.minor}
}

// Satisfies reports whether a provider of version v serves a consumer that requires at least required: v is not below
// it and both stand on one line.
func (v Version) Satisfies(required Version) bool {
	return v.Line() == required.Line() && v.Compare(required) >= 0
}

// Satisfied is [Version.Satisfies] for texts. A text that does not parse satisfies nothing and is satisfied by nothing.
func Satisfied(required, observed string) bool {
	r, err := ParseVersion(required)
	if err != nil {
		return false
	}
	o, err := ParseVersion(observed)
	return err == nil && o.Satisfies(r)
}

// HostSatisfied reports whether a host of version host is at or above floor. A blank floor is always satisfied; the
// line rule does not apply to hosts. A host version that does not parse satisfies only the blank floor.
func HostSatisfied(floor, host string) bool {
	if floor == "" {
		return true
	}
	f, err := ParseVersion(floor)
	if err != nil {
		return false
	}
	h, err := ParseHostVersion(host)
	return err == nil && h.Compare(f) >= 0
}
