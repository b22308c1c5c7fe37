// Package kalanredis puts a guard before a Redis server, inside the go-redis
// client (v9) that talks to it.
//
// In one line where the client is made:
//
//	client := kalanredis.NewClient(guard, &redis.Options{Addr: "localhost:6379"})
//
// or, for a client that is made elsewhere:
//
//	client.AddHook(kalanredis.Hook{Guard: guard})
//
// with the options that [Limits] gives it. A hook alone cannot limit what
// go-redis waits for: by default its reads wait 5 s whatever the context says,
// a connection is dialled five times, and every command is repeated three
// times, INCR too.
//
// # What it protects
//
// Every wait has a limit of its own (F8): 100 ms to connect, 200 ms for an
// answer, 100 ms for a connection of the pool. A command waits for a slot of
// the guard, is sent, and is judged; when Redis hangs or fails the breaker
// opens and callers are refused at once instead of waiting for their limit one
// after the other. Give the guard no more slots than the pool has connections:
// then it is the guard that makes callers wait, counts them, and lets those go
// first that matter.
//
// # What go-redis raises, and what it says
//
//	nil, redis.Nil                    success: a key that is not there is an answer
//	*net.OpError "read", i/o timeout  failure: the server hangs
//	os.ErrDeadlineExceeded            failure: it hangs while a new connection says HELLO
//	*net.OpError "dial"               failure: nobody listens
//	io.EOF, ECONNRESET, EPIPE         failure: it went down under the command, or it has all
//	                                  the clients it may have and hung up on this one
//	LOADING, MASTERDOWN, CLUSTERDOWN,
//	READONLY, NOREPLICAS, BUSY        failure: it is there and does not serve
//	OOM, MISCONF                      failure; not again: it has no room to write
//	TRYAGAIN                          ignored; again: a slot is being moved
//	MOVED, ASK                        ignored: a cluster, and no cluster client
//	redis.ErrPoolTimeout,
//	redis.ErrPoolExhausted            ignored, and a Rejection for policy.Waited: our pool is
//	                                  too small, which says nothing of the server
//	WRONGTYPE, NOAUTH, NOSCRIPT, ERR  ignored: the caller's business
//
// The caller's own cancellation or deadline blames nobody. A pipeline is a
// failure when one of its commands is; go-redis returns its first error.
//
// # What is repeated
//
// Commands that read, and pipelines of nothing else, as the guard's retry says.
// No other command, whatever the error: a command whose answer was lost may have
// been carried out. Repeatable decides otherwise for those that know better.
// go-redis repeats nothing itself under [Limits]: one layer owns retries (F20).
//
// # Blocking commands
//
// BLPOP, XREAD with BLOCK, WAIT and the like wait on purpose. They are refused
// while the breaker is open or no slot is free, give their slot back as soon as
// they may begin, and no limit but the caller's counts for them: go-redis waits
// ten seconds longer than the command says. (In a pipeline go-redis cuts them
// like every other command; that is no failure of the server's.)
// Publish/subscribe has a connection of its own and bypasses the guard.
//
// # Limits
//
// A command that timed out may still be carried out by a server that wakes up:
// Redis knows no cancellation. Its connection is closed, so it holds no place in
// the pool, and the guard counts it as ended.
package kalanredis
