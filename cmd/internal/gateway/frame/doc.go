// Package frame finds requests on a client's connection whose end two readers
// would see at different places, for the gateway.
//
// A request with both Content-Length and Transfer-Encoding is how one request
// is smuggled inside another: whoever believes the one sees a second request
// where whoever believes the other sees a body (O-31). net/http believes the
// second and removes the first before a handler can see it, so a handler cannot
// refuse the request, and goes on to serve what follows. A [Scanner] reads the
// same bytes beside it and knows.
//
// It follows the framing of HTTP/1.1 (RFC 9112, 6 and 7) and nothing else: it
// looks for the ends of heads and bodies and at two headers. It decides
// nothing about a request but to refuse it, so a mistake here refuses too much
// or nothing at all; what is forwarded is always what net/http has read.
//
// Refused are: both headers together, Transfer-Encoding in HTTP/1.0, which
// does not know it, and either of the two folded over several lines or longer
// than any honest one. Bytes of a body are skipped, not read.
package frame
