// Package kalansql puts guards before a database that is used through
// database/sql, for services that would rather refuse a request than wait for a
// connection.
//
//	connector, err := pq.NewConnector(dsn) // or kalansql.Connector("postgres", dsn)
//	db, err := kalansql.Open(connector, kalansql.Config{Name: "orders"})
//	...
//	rows, err := db.QueryContext(ctx, "SELECT id FROM orders WHERE account = $1", account)
//
// [DB] has the methods of *sql.DB that take a context, and they return what
// those of *sql.DB return: *sql.Rows, *sql.Row, *sql.Tx, *sql.Conn. Code that
// was written against an interface of them does not change.
//
// # Three limits
//
// Each wait has a limit of its own (F8), because they mean different things:
//
//	Checkout  500 ms   waiting for a connection: there are too many of us
//	Connect   1 s      making one: the way there, or the server's door
//	Query     3 s      the statement, to its last row: the database
//
// database/sql has no limit for the first. A pool that is exhausted makes its
// callers wait for as long as their contexts let them, and no statistics of the
// database show it. Here as many callers are admitted as there are connections;
// the others wait in a bounded room, shed when it has been slow for too long,
// and are refused (policy.Waited, Full, Shed). A connection is a caller's until
// its rows are closed, its transaction is over or its Conn is closed. The
// priority and the tenant of the request that is served, which kalanhttp.Handler
// and kalangrpc.Server put into its context, count in that room (F29). A pool
// that others starve, beside this package, is seen too and refused the same way.
//
// # Three guards
//
// One hands out the connections: a limit with its room, and no breaker. One
// stands before making a connection, with a time limit and a breaker. One stands
// before every statement, also those of a transaction, with a time limit and a
// breaker. A transaction that its program keeps open for a minute holds a
// connection for a minute, and says nothing about the database; a statement that
// does not come back says everything. A server that has no room for one more
// connection still answers on those it has. [DB.Guards] returns all three
// (docs/adr/0033).
//
// Statements are never repeated here: nobody can know which may be. What
// database/sql does by itself, with driver.ErrBadConn, it goes on doing, except
// for what ran out of time.
// [Conflict] finds the transactions that are worth running again as a whole.
//
// # What counts as a failure
//
// [Classify] knows the errors of the network and, by their SQLSTATE, those of
// every driver whose errors have a method SQLState() string, such as lib/pq and
// pgx:
//
//	08 connection, 53 resources, 57P operator, 58 system   failure
//	40001 serialization, 40P01 deadlock                    ignored; see Conflict
//	every other state, and sql.ErrNoRows                   ignored
//	driver.ErrBadConn from a connection that was idle      ignored: a new one will tell
//	driver.ErrBadConn from one just made                   failure
//	io.EOF                                                 failure: the server closed the connection
//	the time limit                                         failure, whatever the driver calls it
//
// # What lib/pq raises
//
// Held by tests with lib/pq and a real PostgreSQL:
//
//	nobody listens           *net.OpError "dial"
//	it does not log in       nothing, for ever: it is left behind
//	too many connections     *pq.Error 53300
//	a statement too long     *pq.Error 57014, as a *kalan.Rejection for policy.Timeout
//	the server was stopped   driver.ErrBadConn on what there is, *net.OpError "dial" for what is new
//	the backend was ended    driver.ErrBadConn, in place of its 57P01
//	a deadlock               *pq.Error 40P01
//	a lost serialization     *pq.Error 40001
//
// # Limits
//
// Time between the reads of rows, or before they are closed, is the program's:
// when that adds up to a quarter of the slow threshold, the statement says nothing
// of the database, also if the database should hang after that. The query limit
// counts it all the same.
//
// A *sql.Stmt of [DB.PrepareContext] takes its connection from database/sql
// without asking: its executions have the query limit and the breaker, and wait
// unseen when the pool is exhausted. Drivers cache prepared statements; prefer
// QueryContext. [DB.Unwrap] returns the *sql.DB, for what needs one: the same
// holds there. sql.Conn.Raw shows this package's connection; [Driver] finds the
// driver's.
package kalansql
