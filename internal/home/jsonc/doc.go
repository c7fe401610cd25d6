// Package jsonc reads and writes the JSON files of a host: files that people edit, with comments and trailing commas, and
// that several processes change at the same time.
//
// [Read] parses a file into an [Object]. Its [Fields] are taken one by one; what is wrong with a field is told as a
// [Problem] and costs that field alone:
//
//	o, err := jsonc.Read(path)            // fs.ErrNotExist, or a *SyntaxError with line and column
//	f := o.Fields(func(p jsonc.Problem) { … })
//	level, ok := f.OneOf("level", "debug", "info")
//	f.Done()                              // tells the unknown keys
//
// [Edit] changes single members of a file under a lock, keeps everything else byte for byte, and replaces the file at
// once:
//
//	changed, err := jsonc.Edit(path, func(d *jsonc.Draft) error { return d.Set(false, "plugins") })
//
// It is no general JSON package: documents whose root is not an object are refused.
package jsonc
