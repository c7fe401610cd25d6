// Package rawjson reads and writes JSON without building values for it. A streamed answer is thousands of small objects
// of which a client wants two or three members, and a request repeats a transcript of which nothing but its strings has
// to be looked at; both are the hot paths of a model round.
//
// A [Scanner] is pulled along the text and hands out what is asked for:
//
//	s.Reset(data)
//	for s.Object(); s.Next(); {
//		switch string(s.Key()) {
//		case "id":
//			id = s.Text()
//		default:
//			s.Skip()
//		}
//	}
//	err := s.End()
//
// The append functions write one piece each and never fail: [AppendString], [AppendBase64], [AppendInt], [AppendFloat],
// [AppendValid], [Close].
//
// It is no general JSON package: it does not decode into Go values, and does not report duplicate keys.
package rawjson
