package wire

import (
	"strconv"

	"github.com/crystalkernel/crystal/internal/wire/rawjson"
)

// Fault is an error that a provider reports in the body of an answer.
type Fault struct {
	Code    string
	Message string
	Status  int // a numeric code; 0: none
}

// Error gives code and message.
func (f *Fault) Error() string { return f.Code + ": " + f.Message }

// ReadFault reads the value of an error member: an object, or a text. It is nil for null, which says that there is none.
func ReadFault(s *rawjson.Scanner) *Fault {
	var f Fault
	var kind, status string
	switch s.Kind() {
	case rawjson.Null:
		s.Skip()
		return nil
	case rawjson.Object:
	default:
		f.Message = s.Text()
		return &f
	}
	for s.Object(); s.Next(); {
		switch string(s.Key()) {
		case "code":
			if s.Kind() == rawjson.Number {
				f.Status, _ = s.Int()
				continue
			}
			f.Code = s.Text()
			if n, err := strconv.Atoi(f.Code); err == nil && n >= 100 && n <= 599 {
				f.Code, f.Status = "", n
			}
		case "type":
			kind = s.Text()
		case "status":
			status = s.Text()
		case "message":
			f.Message = s.Text()
		default:
			s.Skip()
		}
	}
	if f.Code == "" {
		f.Code = kind
	}
	if f.Code == "" {
		f.Code = status
	}
	return &f
}

// readAnswer reads the body of an error answer: an object with an error member, that object in an array, an object that
// is the error itself, or any text.
func readAnswer(body []byte) *Fault {
	var s rawjson.Scanner
	s.Reset(body)
	if s.Kind() == rawjson.Array {
		s.Array()
		s.Next()
	}
	var found *Fault
	var detail string
	plain := Fault{}
	if s.Kind() == rawjson.Object {
		for s.Object(); s.Next(); {
			switch string(s.Key()) {
			case "error":
				found = ReadFault(&s)
			case "message":
				plain.Message = s.Text()
			case "code":
				plain.Code = s.Text()
			case "detail":
				detail = s.Text()
			default:
				s.Skip()
			}
		}
	}
	if s.Err() != nil {
		found, plain, detail = nil, Fault{}, ""
	}
	if found == nil {
		found = &plain
	}
	if found.Message == "" {
		found.Message = plain.Message
	}
	if found.Message == "" {
		found.Message = detail
	}
	if found.Message == "" {
		found.Message = string(body)
	}
	return found
}
