// Package resend keeps net/http from sending a request again that it has sent.
//
// http.Transport takes a kept connection that breaks before the answer for one
// that had died idle, and sends what is replayable (GET, HEAD, OPTIONS, TRACE)
// on the next that it has kept. A request that kills who serves it would reach
// as many servers as there are kept connections, as one attempt, counted by
// nobody (F20, O-14).
//
// An [Attempt] watches one sending of a request and ends it in that moment;
// whoever plans the attempts decides whether there is another. Where the
// connections are a [Conn] it knows what each of them has written and how it
// broke. Where they are somebody else's it knows what httptrace tells, and ends
// the attempt that asks for a second connection.
//
// What it lets pass: a request of which nothing was written may have another
// connection, and so may one that an HTTP/2 server has said it will not process
// (REFUSED_STREAM, GOAWAY), which net/http tries seven times. A round tripper
// that does not call the hooks of httptrace cannot be watched.
package resend
