package world

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
	"github.com/kalan-go/kalan/sim/random"
)

// What numbers are drawn for. Sub streams of a request by purpose are the same
// in every arm of a comparison.
const (
	forInstance uint64 = 1 + iota
	forNetwork
	forWayBack
	forFate
	forRetryAfter
	forEarly
	forLifetime
	forShadow
	forTenant
	forKey
	forThink
	forWork    uint64 = 1 << 20 // and the operation
	forAttempt uint64 = 1 << 21 // and its number
	forBranch  uint64 = 1 << 22 // and the operation
)

// send lets a request travel over an edge, for whoever waits.
func (w *World) send(edge int32, r *request, from origin) (int32, *visit) {
	id, v := w.newVisit()
	v.request, v.from, v.edge = *r, from, edge
	e := &w.m.Edges[edge]
	v.state, v.pc = travels, e.Script
	if e.Promise > 0 {
		v.deadline = min(v.deadline, w.now.Add(e.Promise))
	}
	v.instance = w.pick(e.Service, v.id)
	way := w.network(e.Service, v.id, forNetwork)
	if way == 0 && from.kind == fromLoad && w.frozen == 0 {
		w.reach(id) // nobody is in the middle of anything: an event would be a detour
		return id, v
	}
	w.push(w.now.Add(way), reaches, id, v.gen)
	return id, v
}

// network draws one way to or from a service.
func (w *World) network(service int32, id random.Stream, purpose uint64) time.Duration {
	law := &w.m.Services[service].Network
	if law.IsZero() {
		return 0
	}
	s := id.Sub(purpose)
	return law.Draw(&s, 0)
}

// reach lets a visit knock at its instance.
func (w *World) reach(id int32) {
	v := &w.visits[id]
	if v.instance == none {
		w.reply(id, answer{result: Failed})
		return
	}
	in := &w.instances[v.instance]
	sv, t := &w.m.Services[in.service], &w.tally.Services[in.service]
	v.born = w.now
	t.Arrived++
	switch {
	case in.closed: // nobody listens
		w.reply(id, answer{result: Failed})
		return
	case v.gone && v.ticket.IsZero() && sv.Cancels: // it was cut off on its way
		w.dropVisit(id)
		return
	case in.accept != nil && !in.accept.Allow(w.now):
		w.refuse(id, policy.Rate)
		return
	}
	if sv.Queue.hopeless(w.now, v) {
		w.refuse(id, policy.Expired)
		return
	}
	in.change(w.now, +1, t)
	if sv.Workers == 0 || in.busy < sv.Workers || sv.Shared {
		w.begin(id)
		return
	}
	if sv.Queue.Places >= 0 && in.waiting >= sv.Queue.Places {
		in.change(w.now, -1, t)
		w.refuse(id, policy.Full)
		return
	}
	w.enqueue(in, id)
}

// refuse answers a visit before any work is done for it.
func (w *World) refuse(id int32, why policy.Reason) {
	v := &w.visits[id]
	service := w.m.Edges[v.edge].Service
	w.tally.Services[service].Refused++
	a := answer{result: Refused, why: why}
	if away := w.m.Services[service].GoAway; !away.IsZero() {
		s := v.id.Sub(forRetryAfter)
		a.retryAfter = away.Pick(s.Float64())
	}
	w.reply(id, a)
}

// begin gives a visit a worker.
func (w *World) begin(id int32) {
	v := &w.visits[id]
	in := &w.instances[v.instance]
	t := &w.tally.Services[in.service]
	in.take(w.now, +1, t)
	v.state, v.begun = serving, w.now
	t.Wait.Add(w.now.Sub(v.born))
	w.play(id)
}

// play goes on with a visit's script until it has to wait.
func (w *World) play(id int32) {
	for {
		v := &w.visits[id]
		switch op := &w.m.Ops[v.pc]; op.Kind {
		case Work:
			w.toil(id, op)
			return
		case Ask:
			w.ask(id, op)
			return
		case Look:
			if !w.lookUp(id, op) {
				return
			}
		case Store:
			if w.store(id, op); w.visits[id].shadow {
				w.quit(id, answer{})
				return
			}
		case Done:
			w.end(id)
			return
		}
	}
}

// toil begins a piece of work.
func (w *World) toil(id int32, op *Op) {
	v := &w.visits[id]
	in := &w.instances[v.instance]
	sv := &w.m.Services[in.service]
	s := v.id.Sub(forWork + uint64(w.step(v)))
	d := op.Law.Draw(&s, w.drawn[v.pc])
	if n := len(sv.Replay); n > 0 {
		reply := &sv.Replay[(int(v.number)+int(v.attempt)*(n/2))%n]
		d, v.answer = reply.Takes, reply.answer()
	}
	w.drawn[v.pc]++
	if sv.Crowding > 0 {
		d += span.Mul(sv.Crowding, int64(in.busy))
	}
	for _, x := range sv.Extra {
		if w.now >= x.From && w.now < x.To {
			d += x.Add
		}
	}
	v.since, v.work = w.now, d
	if op.Optimistic {
		v.version = *w.versionOf(in.service, v)
	}
	if sv.Shared {
		w.share(in, id)
		return
	}
	w.push(in.after(w.now, d), finishes, id, v.gen)
}

// step returns how far a visit is in its script: a number that does not change
// when the model has one script more.
func (w *World) step(v *visit) int32 { return v.pc - w.m.Edges[v.edge].Script }

func (r *Reply) answer() answer { return answer{result: r.Result, retryAfter: r.RetryAfter} }

// finish ends a piece of work.
func (w *World) finish(id int32) {
	v := &w.visits[id]
	w.tally.worked(w.m.Edges[v.edge].Service, v.work, w.inVain(v))
	v.work = 0
	if w.m.Ops[v.pc].Optimistic && !w.write(v) {
		w.quit(id, answer{result: Failed})
		return
	}
	v.pc++
	w.play(id)
}

// versionOf returns the version of what a visit is about.
func (w *World) versionOf(service int32, v *visit) *uint32 {
	s := &w.services[service]
	for int(v.key) >= len(s.versions) {
		s.versions = append(s.versions, 0)
	}
	return &s.versions[v.key]
}

// write writes the next version, unless somebody else has since this visit read
// its own.
func (w *World) write(v *visit) bool {
	version := w.versionOf(w.m.Edges[v.edge].Service, v)
	if *version != v.version {
		return false
	}
	*version++
	return true
}

// inVain reports whether nobody waits any more for what a visit does: its own
// caller has left, or that one's caller.
func (w *World) inVain(v *visit) bool {
	for {
		if v.gone {
			return true
		}
		switch v.from.kind {
		case fromVisit:
			p := &w.visits[v.from.id]
			if p.gen != v.from.gen {
				return true
			}
			v = p
		case fromCall:
			c := &w.calls[v.from.id]
			if c.gen != v.from.gen || c.from.kind == fromVisit && w.visits[c.from.id].gen != c.from.gen {
				return true
			}
			if c.from.kind != fromVisit {
				return false
			}
			v = &w.visits[c.from.id]
		default:
			return false
		}
	}
}

// end draws a visit's fate when its script has ended.
func (w *World) end(id int32) {
	v := &w.visits[id]
	sv := &w.m.Services[w.m.Edges[v.edge].Service]
	if v.result == OK && (len(sv.Errors) > 0 || sv.Business > 0) {
		s := v.id.Sub(forFate)
		switch u := s.Float64(); {
		case u < failing(sv.Errors, w.now):
			v.result = Failed
		case 1-u < sv.Business:
			v.result = Business
		}
	}
	w.quit(id, v.answer)
}

// failing returns the share of requests that fail at now.
func failing(windows []Share, now policy.Instant) float64 {
	p := 0.0
	for _, s := range windows {
		if now >= s.From && now < s.To {
			p = max(p, s.P)
		}
	}
	return p
}

// quit ends a visit that has a worker, with its answer.
func (w *World) quit(id int32, a answer) {
	v := &w.visits[id]
	i := v.instance
	in := &w.instances[i]
	t := &w.tally.Services[in.service]
	if v.loads > 0 {
		w.giveUp(id, a)
		v = &w.visits[id]
	}
	t.Finished++
	t.Stay.Add(w.now.Sub(v.born))
	w.release(in)
	w.reply(id, a)
	w.serveNext(i)
}

// release takes a visit out of its instance.
func (w *World) release(in *instance) {
	t := &w.tally.Services[in.service]
	in.take(w.now, -1, t)
	in.change(w.now, -1, t)
}

// reply sends an answer back, if somebody waits for it.
func (w *World) reply(id int32, a answer) {
	v := &w.visits[id]
	v.answer, v.state = a, returning
	if v.from.kind == nobody || v.gone && v.ticket.IsZero() {
		w.dropVisit(id)
		return
	}
	way := w.network(w.m.Edges[v.edge].Service, v.id, forWayBack)
	if way == 0 && v.from.kind == fromLoad {
		w.deliver(id) // it only counts
		return
	}
	w.push(w.now.Add(way), answers, id, v.gen)
}

// deliver hands the answer to who waits for it.
func (w *World) deliver(id int32) {
	v := &w.visits[id]
	switch from := v.from; from.kind {
	case fromCall:
		w.land(id)
	case fromVisit:
		a := v.answer
		w.dropVisit(id)
		if w.visits[from.id].gen == from.gen {
			w.answered(from.id, a)
		}
	case fromLoad:
		r, a := v.request, v.answer
		w.dropVisit(id)
		w.served(&r, from.id, a)
	}
}

// ask makes the calls of an operation.
func (w *World) ask(id int32, op *Op) {
	v := &w.visits[id]
	pc, step, n := v.pc, w.step(v), op.N
	v.pending = n
	from := origin{fromVisit, id, v.gen}
	for i := range n {
		r := w.visits[id].request
		r.id = r.id.Sub(forBranch + uint64(step+i))
		w.askOver(w.m.Ops[pc+i].Edge, &r, from)
	}
}

// askOver makes one call, with a guard or without.
func (w *World) askOver(edge int32, r *request, from origin) {
	if w.m.Edges[edge].Guard == none {
		w.tally.Edges[edge].Calls++
		w.tally.launched(edge, r, from, w.now)
		w.send(edge, r, from)
		return
	}
	w.dial(edge, r, from)
}

// answered takes in the end of one of a visit's calls. What goes wrong in one
// is what goes wrong in all.
func (w *World) answered(id int32, a answer) {
	v := &w.visits[id]
	op := &w.m.Ops[v.pc]
	if !op.Optional {
		v.answer = v.answer.worse(a)
	}
	if v.pending--; v.pending > 0 {
		return
	}
	if v.result != OK {
		w.quit(id, v.answer)
		return
	}
	v.pc += op.N
	w.play(id)
}
