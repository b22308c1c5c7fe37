// Package route finds the route of a request by its method and path, for the
// gateway.
//
// A pattern is a path prefix and perhaps a method, as settings.Match has it.
// Prefixes match whole segments: "/orders" takes /orders and /orders/7, and
// not /orders7; "/orders/" takes /orders/ and what is below it. The longest
// prefix wins; among equal ones the pattern that names the method. GET takes
// HEAD too, where no pattern names HEAD.
//
// # Paths that two readers understand differently
//
// A path is read again behind the gateway, and not always in the same way:
// one server resolves /prices/..%2Forders, another takes %2F for a letter.
// Whoever routes by one reading and forwards to the other has let the caller
// choose which limits apply to it. Therefore
//
//   - dot segments are resolved before routing, written plainly or as %2e, and
//     what is forwarded is the resolved path (RFC 3986, 5.2.4 and 6.2.2);
//   - a path is also read in every other way that servers have been seen to
//     read one: escapes decoded more than once, backslashes as slashes, path
//     parameters (";x") cut off, empty segments dropped, the path ended at an
//     encoded "?" or "#", overlong UTF-8 taken for ASCII, in any order. When one
//     of them leads to another route than the plain reading, the request is
//     ambiguous and is refused. An encoded slash that leads nowhere else passes
//     untouched. A path with more readings than an honest one has is refused.
//
// A path that climbs above the root, or that holds a NUL byte however encoded,
// is refused too. A plain path costs no more than the look-up.
package route
