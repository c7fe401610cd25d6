// Package framing cuts a streamed body into lines and events, however the bytes come in.
//
// [Lines] ends a line at LF, CRLF or CR and nowhere else. [Events] joins the lines of server-sent events:
//
//	events := framing.NewEvents(body)
//	for {
//		e, err := events.Next()
//		if err != nil {
//			return err // io.EOF: the body has ended
//		}
//		handle(e.Name, e.Data)
//	}
//
// Lines are decoded whole, so that a character may be split over any number of reads. Both keep one buffer, which grows
// to the longest line and no further than [MaxLine].
package framing
