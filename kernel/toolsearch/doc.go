// Package toolsearch ranks deferred tools by how well they fit the words of a query.
//
//	for _, t := range toolsearch.Find("open pull requests", "", deferred, 10) {
//		fmt.Println(t.Canonical)
//	}
//
// The ranking is the same for the same tools and query, in every process. It looks at names first, then at namespaces,
// then at what the tools say about themselves; there is no index, because a search over 1,000 tools takes 2.4 ms
// (BenchmarkFind) and happens once in a while.
package toolsearch
