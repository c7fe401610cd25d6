package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/crystalkernel/crystal/internal/wire/rawjson"
)

// CallID returns the id with which a call and its result are sent: the id itself where every provider accepts it, else
// one made from its hash.
func CallID(id string) string {
	if len(id) >= 1 && len(id) <= 40 && plain(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:16])
}

// CallName returns the name with which a call is sent. A model can have sent anything: each character that is not legal
// is sent as _, at most 64 of them, and a blank name as unnamed.
func CallName(name string) string {
	if len(name) >= 1 && len(name) <= 64 && plain(name) {
		return name
	}
	if strings.TrimSpace(name) == "" {
		return "unnamed"
	}
	var b strings.Builder
	for _, r := range name {
		if b.Len() == 64 {
			break
		}
		if r >= utf8.RuneSelf || !legal(byte(r)) {
			r = '_'
		}
		b.WriteByte(byte(r))
	}
	return b.String()
}

func plain(s string) bool {
	for i := range len(s) {
		if !legal(s[i]) {
			return false
		}
	}
	return true
}

func legal(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// AppendArguments appends the arguments of a call as a JSON object. Blank ones are {}, and what is no object is sent as
// the text of one member, so that the model sees what it did.
func AppendArguments(dst []byte, arguments string) []byte {
	text := strings.TrimSpace(arguments)
	if text == "" {
		return append(dst, "{}"...)
	}
	if text[0] == '{' && json.Valid([]byte(text)) {
		return rawjson.AppendValid(dst, []byte(text))
	}
	cut := 0
	for i := range arguments {
		if cut == 800 {
			arguments = arguments[:i]
			break
		}
		cut++
	}
	dst = append(dst, `{"invalid_arguments":`...)
	dst = rawjson.AppendString(dst, arguments)
	return append(dst, '}')
}

// AppendQuotedArguments appends the arguments of a call as a JSON string that holds their object.
func AppendQuotedArguments(dst []byte, arguments string) []byte {
	start := len(dst)
	dst = AppendArguments(dst, arguments)
	if string(dst[start:]) == arguments {
		return rawjson.AppendString(dst[:start], arguments)
	}
	text := string(dst[start:])
	return rawjson.AppendString(dst[:start], text)
}
